"""Removing raw output that is older than its workspace keeps it. The figures stay.

Age counts from when the upload was received. Uploads that wait or are being read keep their raw
output, and so do those of runs that a package above holds: frozen result sets cite raw files by
their hashes.
"""

import logging
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum, TextField
from django.db.models.functions import Cast, Coalesce
from django.utils import timezone

from backend.accounts.audit import record
from backend.accounts.models import Act, Workspace
from backend.accounts.workspace.turns import Work, take_turns
from backend.errors import Refused
from backend.ingest.models import END_STATES, NAMED_RUN, Artefact, Upload, as_hex
from backend.ingest.quota.stored_sums import add
from backend.ingest.removing.collector import Collected, remove_unnamed_later

log = logging.getLogger(__name__)

# A hundred years: "for ever" is no number.
DAYS = range(1, 36_501)
UPLOADS_AT_ONCE = 200
# Of one turn of the collector; the next turn goes on.
BUDGET_S = 20.0

# The ids, as hex digits, of the runs whose raw output stays. A package above adds its own.
HELD_RUNS: list[Callable[[UUID], QuerySet[Any]]] = []


class RawOutputRemoved(Refused):
    """The raw output was removed for its age; the message says when."""


@dataclass(frozen=True, slots=True)
class DueOutput:
    """What a number of days would remove now: uploads, their files and bytes."""

    uploads: int
    files: int
    size_bytes: int


def count_due_output(workspace: Workspace, days: int) -> DueOutput:
    """What would be removed now if the workspace kept raw output for `days`."""
    due = due_uploads(workspace.pk, days)
    files = Artefact.objects.filter(upload__in=due.values("pk"))
    counts = files.aggregate(
        uploads=Count("upload", distinct=True),
        files=Count("pk"),
        size_bytes=Coalesce(Sum("size_bytes"), 0),
    )
    return DueOutput(**{name: int(count) for name, count in counts.items()})


def due_output() -> Collected:
    """What the settings of all workspaces remove now."""
    due = [
        count_due_output(workspace, workspace.raw_kept_days)
        for workspace in _limited_workspaces()
        if workspace.raw_kept_days is not None
    ]
    files, size_bytes = sum(each.files for each in due), sum(each.size_bytes for each in due)
    return Collected("raw files past their days", files, size_bytes)


def _limited_workspaces() -> QuerySet[Workspace]:
    return Workspace.objects.filter(deleted_at=None, raw_kept_days__isnull=False)


def due_uploads(workspace_id: UUID, days: int) -> QuerySet[Upload]:
    """The ended uploads of a workspace with raw output that is older than `days`."""
    rows = Upload.objects.filter(
        workspace=workspace_id,
        received_at__lt=timezone.now() - timedelta(days=days),
        raw_removed_at=None,
        state__in=END_STATES,
    )
    # The upload of a single trial names its run in the envelope only.
    rows = rows.alias(named_run=Coalesce(as_hex(Cast("run", TextField())), NAMED_RUN))
    for held_runs in HELD_RUNS:
        rows = rows.filter(Q(named_run=None) | ~Q(named_run__in=held_runs(workspace_id)))
    return rows


def remove_due_output(budget_s: float = BUDGET_S) -> int:
    """Remove what is due in all workspaces, whose owners take turns; how many files."""
    workspaces = {workspace.pk: workspace for workspace in _limited_workspaces()}
    files: Counter[UUID] = Counter()

    def remove_of(workspace_id: UUID) -> Generator[None]:
        totals: Counter[str] = Counter()
        try:
            for counts in _remove_batches(workspaces[workspace_id]):
                totals.update(counts)
                yield
        finally:
            files[workspace_id] += totals["files"]
            _record_removal(workspaces[workspace_id], totals)

    take_turns(Work.OUTPUT, workspaces, remove_of, budget_s)
    return files.total()


def _remove_batches(workspace: Workspace) -> Generator[dict[str, int]]:
    """What each batch removed."""
    # The uploads before `after` were looked at in this turn.
    after, counts = _remove_some(workspace, None)
    while after is not None:
        yield counts
        after, counts = _remove_some(workspace, after)


def _record_removal(workspace: Workspace, totals: Counter[str]) -> None:
    """One event for a turn: thousands of files would hide what people did."""
    if totals["files"]:
        detail: dict[str, Any] = {"kept_days": workspace.raw_kept_days, **totals}
        record(Act.RAW_OUTPUT_REMOVED, workspace, **detail)
        log.info("raw_output_removed", extra={"workspace": str(workspace.pk), **totals})


def _remove_some(
    workspace: Workspace, after: datetime | None
) -> tuple[datetime | None, dict[str, int]]:
    """When the last upload that was looked at had come, None at the end; and what was removed."""
    with transaction.atomic():
        # The current setting: somebody may have raised it since the turn began.
        days = Workspace.objects.values_list("raw_kept_days", flat=True).get(pk=workspace.pk)
        if days is None:
            return None, {}
        due = due_uploads(workspace.pk, days).order_by("received_at")
        if after is not None:
            due = due.filter(received_at__gte=after)
        locked = due.select_for_update(skip_locked=True)
        received = dict(locked.values_list("pk", "received_at")[:UPLOADS_AT_ONCE])
        if not received:
            return None, {}
        # Asked once more under the lock: a run may have been cited since the query above began.
        still_due = due_uploads(workspace.pk, days).filter(pk__in=received)
        free = list(still_due.values_list("pk", flat=True))
        files = list(Artefact.objects.filter(upload__in=free).values("sha256", "size_bytes"))
        size_bytes = sum(file["size_bytes"] for file in files)
        rows = Upload.objects.filter(pk__in=free)
        rows.update(raw_removed_at=timezone.now(), raw_kept_days=days)
        add(workspace.pk, -size_bytes)
    remove_unnamed_later([file["sha256"] for file in files])
    counts = {"uploads": len(free), "files": len(files), "size_bytes": size_bytes}
    return max(received.values()), counts


def refuse_removed(upload: Upload) -> None:
    """Raises RawOutputRemoved where the raw output of the upload is gone for its age."""
    if upload.removal_note:
        raise RawOutputRemoved(upload.removal_note)
