"""Asking for an archive, writing it in the background, and removing it after some days.

The Export row is the queue. One archive is written at a time in the whole service, so that exports
leave the workers to the uploads. A workspace keeps one archive: a newer one replaces it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, astuple
from datetime import timedelta
from functools import partial
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import Error, IntegrityError, connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.http import FileResponse
from django.utils import timezone

from backend.accounts.audit import record
from backend.accounts.models import Act, User, Workspace
from backend.accounts.workspace.turns import Work, begin_turn, end_turn, next_workspaces
from backend.broker import BROKER
from backend.database_faults import is_taken
from backend.disks import is_short
from backend.errors import Away, Conflict, WorkFailed
from backend.ingest.removing.collector import remove_unnamed_later
from backend.storage import StorageAway, StorageFull, open_artefact, storage
from backend.transfer.archive import NotWritten, OutputGone, Progress, archive_pieces
from backend.transfer.models import UNFINISHED, Export, ExportState

log = logging.getLogger(__name__)

WRITE_TASK = "transfer.write"
# Of the advisory lock on who writes.
LOCK_KEY = 0x10AD_5EE7_0038
# Renewed while pieces are written; a store takes its time after the last one.
LEASE = timedelta(minutes=15)
BEAT_S = 2.0
# Between attempts: a storage or database that is away may be so for hours.
PAUSES_S = (60, 5 * 60, 25 * 60, 2 * 3600)
MAX_ATTEMPTS = len(PAUSES_S) + 1


class ExportRefused(Conflict):
    """An archive cannot be asked for or read now; the message says why."""


class NoRoomForArchive(Away):
    """A disk of the service is short: what is left of it is not for archives."""

    def __init__(self) -> None:
        super().__init__("There is no room for an archive: a disk of the service is nearly full.")


def request_export(workspace: Workspace, *, author: User | None) -> Export:
    """Ask for an archive of the workspace: an export that waits for its next attempt begins now.

    Raises ExportRefused while one is being written, and NoRoomForArchive.
    """
    if is_short():
        raise NoRoomForArchive
    if (waiting := _begin_now(workspace)) is not None:
        return waiting
    try:
        with transaction.atomic():
            # What failed before is told no more.
            exports_of(workspace).filter(state=ExportState.FAILED).delete()
            export = Export.objects.create(workspace=workspace, author=author)
            record(Act.EXPORT_REQUESTED, workspace, subject_id=export.pk)
    except IntegrityError as refusal:
        if not is_taken(refusal):
            raise
        raise ExportRefused("An archive of this workspace is being written already.") from None
    transaction.on_commit(hint, robust=True)
    return export


def _begin_now(workspace: Workspace) -> Export | None:
    paused = exports_of(workspace).filter(state=ExportState.WAITING).exclude(retry_at=None)
    if not paused.update(retry_at=None):
        return None
    transaction.on_commit(hint, robust=True)
    return exports_of(workspace).filter(state=ExportState.WAITING).first()


def hint() -> None:
    """Wake a worker. A lost hint costs a minute: the workers also look by themselves."""
    BROKER.call(lambda: current_app.send_task(WRITE_TASK, retry=False), otherwise=None)


def write_due() -> int:
    """Write the archives that wait, one after the other; how many were worked on."""
    count = 0
    while (export := claim()) is not None:
        started = time.monotonic()
        _work_on(export)
        end_turn(Work.ARCHIVE, export.workspace_id, time.monotonic() - started)
        count += 1
    return count


def claim() -> Export | None:
    """Take an export that waits; None if none waits, or one is being written.

    Persons take turns, because one may have many workspaces; of these, the one that waits longest.
    """
    is_held = Q(state=ExportState.WRITING, lease_until__gt=Now())
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK_KEY])
        if Export.objects.filter(is_held).exists():
            return None
        is_due = Q(retry_at=None) | Q(retry_at__lte=Now())
        due = Export.objects.filter(is_due, state__in=UNFINISHED, workspace__deleted_at=None)
        waiting = due.order_by("requested_at").values_list("workspace", flat=True)
        rows = due.filter(workspace__in=next_workspaces(Work.ARCHIVE, waiting))
        rows = rows.select_related("workspace").order_by("requested_at")
        export = rows.select_for_update(skip_locked=True, of=("self",)).first()
        if export is None:
            return None
        begin_turn(Work.ARCHIVE, export.workspace_id)
        export.attempts += 1
        export.fence += 1
        Export.objects.filter(pk=export.pk).update(
            state=ExportState.WRITING,
            attempts=export.attempts,
            fence=export.fence,
            lease_until=Now() + LEASE,
            retry_at=None,
        )
    return export


def _work_on(export: Export) -> None:
    if export.attempts > MAX_ATTEMPTS:
        _fail(export, f"Writing it was interrupted {MAX_ATTEMPTS} times.")
        return
    try:
        _write(export)
    except (OutputGone, NoRoomForArchive, StorageAway, Error) as passing:
        log.warning("export_interrupted", extra={"export": str(export.pk), "reason": str(passing)})
        _give_back(export, _message_of(passing))
    except TakenOver:
        log.info("export_taken_over", extra={"export": str(export.pk)})
    except NotWritten as refused:
        _fail(export, str(refused))
    except Exception as fault:  # a fault of ours must not stop the others
        log.exception("export_fault", extra={"export": str(export.pk)})
        _fail(export, f"A fault of Loadsheet stopped it ({type(fault).__name__}).")


def _message_of(passing: OutputGone | NoRoomForArchive | StorageAway | Error) -> str:
    """What members read. The messages of others name addresses; they are in the log."""
    if isinstance(passing, OutputGone | NoRoomForArchive):
        return str(passing)
    if isinstance(passing, StorageFull):
        return str(NoRoomForArchive())
    away = "storage" if isinstance(passing, StorageAway) else "database"
    return f"The {away} could not be used."


def _write(export: Export) -> None:
    # Closed in any case: its transaction would outlive a fault, and hold the row against us.
    with (
        _Heartbeat(export) as heartbeat,
        closing(archive_pieces(export.workspace, heartbeat.beat)) as pieces,
    ):
        stored = storage().put(pieces, meanwhile=heartbeat.renew)
    with transaction.atomic():
        held = _held(export).update(
            state=ExportState.DONE,
            sha256=stored.sha256,
            size_bytes=stored.size_bytes,
            finished_at=Now(),
            lease_until=None,
            reason="",
            **asdict(heartbeat.progress),
        )
        if held:
            older = Export.objects.filter(workspace=export.workspace_id, state=ExportState.DONE)
            older.exclude(pk=export.pk).delete()
    if not held:
        # Another worker took it over, or it was deleted.
        remove_unnamed_later([stored.sha256])
    log.info("exported", extra={"export": str(export.pk), "size_bytes": stored.size_bytes})


class TakenOver(WorkFailed):
    """The export was deleted, or another worker writes it."""


class _Heartbeat:
    """Tells the row how far the archive is, over a connection of its own.

    The archive is read in one long transaction, in which nobody else would see the progress.
    """

    def __init__(self, export: Export) -> None:
        self._export = export
        self._reported_at = -float("inf")
        self._was_held = False
        self.progress = Progress()

    def __enter__(self) -> _Heartbeat:
        self._connection = connection.copy()
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def beat(self, progress: Progress) -> None:
        """Write the progress down and renew the lease, both at most every BEAT_S seconds."""
        self.progress = progress
        self.renew()

    def renew(self) -> None:
        """Renew the lease, also while a written archive is sent to S3.

        Raises TakenOver, and NoRoomForArchive: how large an archive gets is known only when it is
        written.
        """
        if time.monotonic() - self._reported_at < BEAT_S:
            return
        self._reported_at = time.monotonic()
        if is_short():
            raise NoRoomForArchive
        with self._connection.cursor() as cursor:
            cursor.execute(
                """
                UPDATE transfer_export SET rows_done = %s, files_done = %s, files_total = %s,
                    lease_until = statement_timestamp() + make_interval(secs => %s)
                WHERE id = %s AND fence = %s
                """,
                [
                    *astuple(self.progress),
                    LEASE.total_seconds(),
                    self._export.pk,
                    self._export.fence,
                ],
            )
            if self._was_held and not cursor.rowcount:
                raise TakenOver(str(self._export.pk))
            self._was_held = bool(cursor.rowcount)


def _held(export: Export) -> QuerySet[Export]:
    return Export.objects.filter(pk=export.pk, state=ExportState.WRITING, fence=export.fence)


def _give_back(export: Export, reason: str) -> None:
    """Let it wait for the next attempt, longer each time; fail after the last."""
    if export.attempts >= MAX_ATTEMPTS:
        _fail(export, reason)
        return
    pause = timedelta(seconds=PAUSES_S[export.attempts - 1])
    _held(export).update(
        state=ExportState.WAITING, reason=reason, retry_at=Now() + pause, lease_until=None
    )


def _fail(export: Export, reason: str) -> None:
    _held(export).update(
        state=ExportState.FAILED, reason=reason, finished_at=Now(), lease_until=None
    )
    log.warning("export_failed", extra={"export": str(export.pk), "reason": reason})


def remove_expired() -> int:
    """Remove archives, and notes of failed exports, after EXPORT_KEPT_DAYS; how many."""
    before = timezone.now() - timedelta(days=settings.EXPORT_KEPT_DAYS)
    return Export.objects.filter(finished_at__lt=before).delete()[0]


def delete_export(export: Export) -> None:
    """Remove an archive now, or stop writing it."""
    with transaction.atomic():
        record(Act.EXPORT_DELETED, export.workspace, subject_id=export.pk)
        export.delete()


def download(export: Export) -> FileResponse:
    """The archive as a file; the download is recorded.

    Raises ExportRefused before it is done, FileNotFoundError and StorageAway.
    """
    if export.state != ExportState.DONE:
        raise ExportRefused(f"The archive is not there: the export is {export.state}.")
    source = open_artefact(export.sha256)
    record(Act.EXPORT_DOWNLOADED, export.workspace, subject_id=export.pk, sha256=export.sha256)
    name = f"loadsheet-{export.workspace.slug}-{export.finished_at:%Y-%m-%d}.zip"
    response = FileResponse(
        source, as_attachment=True, filename=name, content_type="application/zip"
    )
    response["Content-Length"] = str(export.size_bytes)
    response["X-Content-Type-Options"] = "nosniff"
    return response


def exports_of(workspace: Workspace) -> QuerySet[Export]:
    """The exports of a workspace, the newest first."""
    return Export.objects.filter(workspace=workspace).select_related("workspace", "author")


def named_archives(sha256s: Sequence[str]) -> set[str]:
    """Those of the stored bytes that are archives of exports."""
    return set(Export.objects.filter(sha256__in=sha256s).values_list("sha256", flat=True))


def remove_archive(sender: type[Export], instance: Export, **_: Any) -> None:
    """The bytes go once the deletion of the row is committed."""
    if instance.sha256:
        transaction.on_commit(partial(remove_unnamed_later, [instance.sha256]), robust=True)
