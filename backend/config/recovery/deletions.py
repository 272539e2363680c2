"""What was deleted for good, kept beside the backups, so that a restore can delete it once more.

    <folder>/deletions/<when it was written>.jsonl   events of the audit log, one a line

A file never changes. Those that are older than every backup go: each backup knows their events.
"""

import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.core import serializers
from django.core.serializers.base import DeserializationError
from django.db import Error, transaction
from django.db.models import Q

from backend.accounts.models import Act, AuditEvent, Workspace
from backend.accounts.own_data.erasure import NOBODY, erase_again
from backend.config.recovery.backup_bucket import push
from backend.config.recovery.backups import NAME_FORMAT, PARTIAL, backups_in
from backend.config.recovery.database_programs import RecoveryFailed
from backend.ingest.removing.purging import purge_deleted_workspaces
from backend.ingest.removing.removal import remove_run, remove_unread
from backend.runs.models import Run
from backend.sharing.workspace_deletion import delete_workspace

log = logging.getLogger(__name__)

FOLDER = "deletions"
# A file in a copy of that folder: what was deleted must stay there.
KEEP = "keep"
STORE_TASK = "config.store_deletions"
ACTS = (Act.WORKSPACE_DELETED, Act.RUN_DELETED, Act.ACCOUNT_ERASED)
# Longer than the transaction of a deletion, whose event is dated at its beginning.
MARGIN = timedelta(hours=1)
NOT_ALL = (
    "{} runs could not be deleted once more: the log has the reasons. "
    "Run manage.py delete_again {} until it ends without an error."
)
# Of a restore: what is left then, the collector removes.
PURGE_S = 3600.0


@dataclass(frozen=True, slots=True)
class Repeated:
    """How many workspaces, runs and accounts were deleted once more; how many runs could not be."""

    workspaces: int = 0
    runs: int = 0
    failed_runs: int = 0
    accounts: int = 0

    def __str__(self) -> str:
        return f"workspaces: {self.workspaces}, runs: {self.runs}, accounts: {self.accounts}"


def store_deletions(folder: Path, *, since: datetime | None = None) -> int:
    """Write what was deleted and is in no file yet; how many events.

    `since`: where the search begins; None: before the oldest backup of the folder. Raises OSError.
    """
    begin = since or _oldest_backup(folder) - MARGIN
    stored = _stored_since(folder, begin)
    events = [event for event in recorded_deletions(begin) if event.pk not in stored]
    if events:
        place = folder.resolve() / FOLDER
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = place / f"{datetime.now(UTC).strftime(NAME_FORMAT)}.jsonl"
        partial = file.with_name(f"{file.name}{PARTIAL}")
        with partial.open("w") as lines:
            lines.write(serializers.serialize("jsonl", events))
            lines.flush()
            os.fsync(lines.fileno())
        partial.rename(file)
    return len(events)


def _stored_since(folder: Path, since: datetime) -> set[UUID]:
    """The events in files written since then. Those of a damaged file are stored once more."""
    stored = set()
    for file in _files(folder):
        if _written_at(file) >= since:
            try:
                stored |= {event.pk for event in _events_in(file)}
            except RecoveryFailed:
                log.warning("deletions_damaged", exc_info=True)
    return stored


def recorded_deletions(since: datetime) -> list[AuditEvent]:
    """The events of deletions that the database has, oldest first."""
    rows = AuditEvent.objects.filter(act__in=ACTS, at__gte=since)
    return list(rows.order_by("at", "pk"))


def read_deletions(folder: Path) -> list[AuditEvent]:
    """The events in the files of a folder of backups; raises RecoveryFailed for a damaged one."""
    return [event for file in _files(folder) for event in _events_in(file)]


def _events_in(file: Path) -> list[AuditEvent]:
    try:
        entries = serializers.deserialize("jsonl", file.read_text(), ignorenonexistent=True)
        return [entry.object for entry in entries if isinstance(entry.object, AuditEvent)]
    except (OSError, ValueError, DeserializationError) as error:
        raise RecoveryFailed(f"{file} cannot be read: {error}") from None


def repeat_deletions(events: Iterable[AuditEvent]) -> Repeated:
    """Delete once more what these events deleted, but for events that the database has itself.

    A run that was sent again after its deletion and before the backup so stays. Raises what the
    database raises, but for single runs, which are counted; it may be called again.
    """
    missing = _unknown(events)
    # Workspaces first: what was private in them is closed, whatever happens to a run.
    workspaces = [event for event in missing if event.act == Act.WORKSPACE_DELETED]
    deleted = sum(_delete_workspace(event) for event in workspaces)
    removed = failed = 0
    for event in missing:
        if event.act == Act.RUN_DELETED:
            try:
                removed += _remove_run(event)
            except Error:
                failed += 1
                log.exception("run_not_deleted", extra={"run": str(event.subject_id)})
    # Last: the events of the deletions above may name the people.
    erased = sum(_erase_account(event) for event in missing if event.act == Act.ACCOUNT_ERASED)
    purge_deleted_workspaces(PURGE_S)
    return Repeated(deleted, removed, failed, erased)


@transaction.atomic
def keep_deleted(events: Iterable[AuditEvent]) -> None:
    """Record these events and delete no workspace and no run: no later restore repeats them.

    Accounts are erased all the same: the decision was that of the person, not of the operator.
    """
    for event in _unknown(events):
        if event.act == Act.ACCOUNT_ERASED:
            _erase_account(event)
        elif Workspace.objects.filter(Q(pk=event.workspace_id)).exists():
            event.save(force_insert=True)


def _unknown(events: Iterable[AuditEvent]) -> list[AuditEvent]:
    """The events that the database does not have, oldest first."""
    by_id = {event.pk: event for event in events}
    stored = set(AuditEvent.objects.filter(pk__in=by_id).values_list("pk", flat=True))
    return sorted((by_id[pk] for pk in by_id.keys() - stored), key=lambda event: event.at)


@transaction.atomic
def _delete_workspace(event: AuditEvent) -> bool:
    event.save(force_insert=True)
    workspace = Workspace.objects.filter(Q(pk=event.workspace_id), deleted_at=None).first()
    if workspace is not None:
        delete_workspace(workspace)
    return workspace is not None


@transaction.atomic
def _remove_run(event: AuditEvent) -> bool:
    workspace = Workspace.objects.filter(Q(pk=event.workspace_id), deleted_at=None).first()
    if workspace is None:
        # Its audit log is gone too, or goes with it.
        return False
    event.save(force_insert=True)
    run = Run.with_trash.filter(Q(pk=event.subject_id), workspace=workspace).first()
    if run is not None:
        remove_run(run)
        return True
    return event.subject_id is not None and remove_unread(workspace, event.subject_id)


@transaction.atomic
def _erase_account(event: AuditEvent) -> bool:
    event.actor_name, event.address = NOBODY, None
    event.save(force_insert=True)
    return event.subject_id is not None and erase_again(event.subject_id)


def remove_old_deletions(folder: Path) -> None:
    """Remove the files whose events every backup of the folder has."""
    oldest = _oldest_backup(folder) - 2 * MARGIN
    for file in _files(folder):
        if _written_at(file) < oldest:
            file.unlink()


def _files(folder: Path) -> list[Path]:
    return sorted((folder.resolve() / FOLDER).glob("*.jsonl"))


def _written_at(file: Path) -> datetime:
    return datetime.strptime(file.stem, NAME_FORMAT).replace(tzinfo=UTC)


def _oldest_backup(folder: Path) -> datetime:
    """When the oldest backup ended; now if there is none."""
    return min((backup.ended_at for backup in backups_in(folder)), default=datetime.now(UTC))


def _last_stored(folder: Path) -> datetime:
    """When events were stored last, or else the oldest backup ended; now where there is neither."""
    files = _files(folder)
    return _written_at(files[-1]) if files else _oldest_backup(folder)


@shared_task(name=STORE_TASK)  # type: ignore[untyped-decorator]
def store_new_deletions() -> None:
    """Store what was deleted lately in BACKUP_DIR; beat asks once a minute."""
    folder = settings.BACKUP_DIR and Path(settings.BACKUP_DIR)
    if not folder:
        return
    try:
        store_deletions(folder, since=_last_stored(folder) - MARGIN)
        if settings.BACKUP_BUCKET:
            push(folder, below=f"{FOLDER}/")
    except (RecoveryFailed, OSError, Error):
        log.warning("deletions_not_stored", exc_info=True)
