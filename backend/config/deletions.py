"""What was deleted for good, kept beside the backups, so that a restore can delete it once more.

    <folder>/deletions/<when it was written>.jsonl   events of the audit log, one a line

A file never changes. Those that are older than every backup go: each backup knows their events.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from celery import shared_task
from django.conf import settings
from django.core import serializers
from django.core.serializers.base import DeserializationError
from django.db import Error, transaction
from django.db.models import Q

from backend.accounts.models import Act, AuditEvent, Workspace
from backend.config.backup_bucket import push
from backend.config.backups import NAME_FORMAT, PARTIAL, backups_in
from backend.config.database_programs import RecoveryFailed
from backend.ingest.purging import purge_deleted_workspaces
from backend.ingest.removal import remove_run
from backend.runs.models import Run
from backend.sharing.workspace_deletion import delete_workspace

log = logging.getLogger(__name__)

FOLDER = "deletions"
STORE_TASK = "config.store_deletions"
ACTS = (Act.WORKSPACE_DELETED, Act.RUN_DELETED)
# Longer than the transaction of a deletion, whose event is dated at its beginning.
MARGIN = timedelta(hours=1)
# Of a restore: what is left then, the collector removes.
PURGE_S = 3600.0


@dataclass(frozen=True, slots=True)
class Repeated:
    """How many workspaces and runs were deleted once more."""

    workspaces: int = 0
    runs: int = 0


def store_deletions(folder: Path, *, since: datetime | None = None) -> int:
    """Write what was deleted and is in no file yet; how many events.

    `since`: where the search begins; None: before the oldest backup of the folder. Raises OSError.
    """
    begin = since or _oldest_backup(folder) - MARGIN
    stored = {event.pk for event in read_deletions(folder, since=begin)}
    events = [event for event in recorded_deletions(begin) if event.pk not in stored]
    if events:
        place = folder.resolve() / FOLDER
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = place / f"{datetime.now(UTC).strftime(NAME_FORMAT)}.jsonl"
        partial = file.with_name(f"{file.name}{PARTIAL}")
        partial.write_text(serializers.serialize("jsonl", events))
        partial.rename(file)
    return len(events)


def recorded_deletions(since: datetime) -> list[AuditEvent]:
    """The events of deletions that the database has, oldest first."""
    rows = AuditEvent.objects.filter(act__in=ACTS, at__gte=since)
    return list(rows.order_by("at", "pk"))


def read_deletions(folder: Path, *, since: datetime | None = None) -> Iterator[AuditEvent]:
    """The events in the files of a folder of backups, or in those written since then.

    Raises RecoveryFailed where a file cannot be read.
    """
    for file in _files(folder):
        if since is not None and _written_at(file) < since:
            continue
        try:
            for entry in serializers.deserialize("jsonl", file.read_text(), ignorenonexistent=True):
                if isinstance(entry.object, AuditEvent):
                    yield entry.object
        except (OSError, ValueError, DeserializationError) as error:
            raise RecoveryFailed(f"{file} cannot be read: {error}") from None


def repeat_deletions(events: Iterable[AuditEvent]) -> Repeated:
    """Delete once more what these events deleted, but for events that the database has itself.

    A run that was sent again after its deletion and before the backup so stays. Raises what the
    database raises; it may be called again.
    """
    by_id = {event.pk: event for event in events}
    known = set(AuditEvent.objects.filter(pk__in=by_id).values_list("pk", flat=True))
    missing = sorted((by_id[pk] for pk in by_id.keys() - known), key=lambda event: event.at)
    workspaces = [event for event in missing if event.act == Act.WORKSPACE_DELETED]
    runs = [event for event in missing if event.act == Act.RUN_DELETED]
    repeated = Repeated(
        runs=sum(_remove_run(event) for event in runs),
        workspaces=sum(_delete_workspace(event) for event in workspaces),
    )
    purge_deleted_workspaces(PURGE_S)
    return repeated


@transaction.atomic
def _delete_workspace(event: AuditEvent) -> bool:
    event.save(force_insert=True)
    workspace = Workspace.objects.filter(Q(pk=event.workspace_id), deleted_at=None).first()
    if workspace is not None:
        delete_workspace(workspace)
    return workspace is not None


@transaction.atomic
def _remove_run(event: AuditEvent) -> bool:
    workspace = Workspace.objects.filter(Q(pk=event.workspace_id)).first()
    if workspace is None:
        # Its audit log is gone too.
        return False
    event.save(force_insert=True)
    run = Run.with_trash.filter(Q(pk=event.subject_id), workspace=workspace).first()
    if run is not None:
        remove_run(run)
    return run is not None


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
    """When the oldest backup ended; now where there is none."""
    return min((backup.ended_at for backup in backups_in(folder)), default=datetime.now(UTC))


@shared_task(name=STORE_TASK)  # type: ignore[untyped-decorator]
def store_new_deletions() -> None:
    """Store what was deleted lately in BACKUP_DIR; beat asks once a minute."""
    folder = settings.BACKUP_DIR and Path(settings.BACKUP_DIR)
    if not folder:
        return
    try:
        stored = store_deletions(folder, since=datetime.now(UTC) - MARGIN)
        if stored and settings.BACKUP_BUCKET:
            push(folder, below=f"{FOLDER}/")
    except (RecoveryFailed, OSError, Error):
        log.warning("deletions_not_stored", exc_info=True)
