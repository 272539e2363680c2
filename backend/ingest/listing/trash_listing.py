"""The trash of a workspace as a list shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from backend.accounts.models import User, Workspace
from backend.ingest.models import Upload
from backend.ingest.quota.stored_sums import bytes_of_uploads
from backend.ingest.removing.trash import KEPT_IN_TRASH, trashed
from backend.ingest.removing.upload_removal import bytes_beside_uploads
from backend.runs.catalogue.listing import RunRow, rows_of
from backend.runs.models import Run
from backend.runs.tables.large_columns import large_columns

MAX_LISTED = 200


@dataclass(frozen=True, slots=True)
class TrashedRun:
    """A run in the trash: `gone_at` is when the collector deletes it for good."""

    run: RunRow
    trashed_at: datetime
    trashed_by: User | None
    gone_at: datetime


def find_trashed_run(run_id: UUID, workspace_ids: Sequence[UUID]) -> Run | None:
    """The run with this id in the trash of one of these workspaces."""
    rows = trashed(Q(pk=run_id, workspace__in=workspace_ids))
    return rows.select_related("workspace").first()


def list_trash(workspace_ids: Sequence[UUID]) -> list[TrashedRun]:
    """The runs in the trash of these workspaces, the latest first; at most 200."""
    return describe_trashed(list(runs_in_trash(workspace_ids).order_by("-trashed_at")[:MAX_LISTED]))


def runs_in_trash(workspace_ids: Sequence[UUID]) -> QuerySet[Run]:
    """The runs in the trash of these workspaces, with what a list shows of each."""
    rows = trashed(Q(workspace__in=workspace_ids))
    rows = rows.select_related("workspace", "server_host", "trashed_by")
    return rows.defer(*large_columns())


def describe_trashed(runs: Sequence[Run]) -> list[TrashedRun]:
    """These runs of the trash as a list shows them, in their order."""
    return [
        TrashedRun(row, run.trashed_at, run.trashed_by, run.trashed_at + KEPT_IN_TRASH)
        for run, row in zip(runs, rows_of(runs), strict=True)
        if run.trashed_at is not None
    ]


def trashed_bytes(workspace: Workspace) -> int:
    """What the runs in the trash of a workspace count in its quota."""
    uploads = Upload.objects.filter(workspace=workspace, is_in_trash=True)
    runs = Run.with_trash.filter(workspace=workspace).exclude(trashed_at=None)
    beside = bytes_beside_uploads(workspace, list(runs.values_list("pk", flat=True)))
    return bytes_of_uploads(list(uploads.values_list("pk", flat=True))) + beside
