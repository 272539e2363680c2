"""The trash of a workspace: runs that are shown nowhere, and can be restored for 30 days.

A run in the trash keeps all its rows and bytes, so restoring it gives back exactly what was there.
Its bytes count as stored until it is deleted for good.
"""

import logging
from collections.abc import Generator, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from backend.accounts.audit import record, record_each
from backend.accounts.models import Act, User
from backend.accounts.workspace.turns import Work, guarded, take_turns
from backend.ingest.artefacts.evidence import uploads_of_runs
from backend.ingest.removing.removal import remove_run
from backend.ingest.removing.upload_removal import lock_uploads
from backend.noise.record import refresh_noise_of_runs
from backend.runs.amending.dismissals import check_texts
from backend.runs.models import Run
from backend.runs.registry.registry import lock_names
from backend.transactions import whole

log = logging.getLogger(__name__)
KEPT_IN_TRASH = timedelta(days=30)
# Of one turn of the collector; the next turn goes on.
BUDGET_S = 20.0
# Of a workspace in one turn of the collector. A run that cannot be removed holds up none of these.
MOST_AT_ONCE = 1000


def trash_run(run: Run, *, by: User | None) -> None:
    """Move a run to the trash: from now on it is in no answer and on no page but the trash's."""
    trash_runs([run], by=by)


def trash_runs(runs: Sequence[Run], *, by: User | None) -> None:
    """As `trash_run`, for runs of one workspace. The number of statements depends on their hosts
    alone.
    """
    _move(runs, trashed_at=timezone.now(), by=by)


def restore_run(run: Run) -> None:
    """Take a run out of the trash. Raises what TEXT_CHECKS raise."""
    _move([run], trashed_at=None, by=None)


@whole
def _move(runs: Sequence[Run], *, trashed_at: datetime | None, by: User | None) -> None:
    workspace = runs[0].workspace
    lock_names(workspace)
    run_ids = [run.pk for run in runs]
    # Before the runs, as whoever reads one of them does.
    lock_uploads(uploads_of_runs(workspace, run_ids))
    rows = Run.with_trash.filter(pk__in=run_ids, trashed_at__isnull=trashed_at is not None)
    moved = list(rows.select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True))
    if not moved:
        return
    changes: dict[str, Any] = {"trashed_at": trashed_at, "trashed_by": by}
    if trashed_at is None:
        # Who reads the table of all trials page by page gets the restored run again.
        changes["completed_at"] = Now()
    Run.with_trash.filter(pk__in=moved).update(**changes)
    if trashed_at is None:
        # The workspace may have become public meanwhile, so secrets are searched for again.
        for run in runs:
            check_texts(run)
    uploads_of_runs(workspace, moved).update(is_in_trash=trashed_at is not None)
    refresh_noise_of_runs(moved)
    workspace.changed()
    act = Act.RUN_RESTORED if trashed_at is None else Act.RUN_TRASHED
    record_each(act, workspace, moved)


def remove_expired_runs(budget_s: float = BUDGET_S) -> int:
    """Delete for good what has been in the trash for 30 days; how many runs.

    Persons take turns: who trashes 50,000 runs at once keeps nobody else's longer.
    """
    expired = trashed(Q(trashed_at__lt=timezone.now() - KEPT_IN_TRASH))
    removed: list[UUID] = []

    def remove_of(workspace_id: UUID) -> Generator[None]:
        own = expired.filter(workspace=workspace_id).order_by("trashed_at")
        for run_id in list(own.values_list("pk", flat=True)[:MOST_AT_ONCE]):
            with guarded("run_not_removed", run=run_id):
                run = expired.select_related("workspace").filter(pk=run_id).first()
                if run is not None and remove_trashed_run(run):
                    removed.append(run_id)
            yield

    workspaces = expired.order_by().values_list("workspace", flat=True).distinct()
    take_turns(Work.TRASH, workspaces, remove_of, budget_s)
    if removed:
        log.info("trash_emptied", extra={"runs": len(removed)})
    return len(removed)


@whole
def remove_trashed_run(run: Run) -> bool:
    """Delete a run for good; False, and nothing deleted, where it left the trash since `run`
    was read.
    """
    lock_names(run.workspace, exclusive=True)
    is_trashed = trashed(Q(pk=run.pk, trashed_at=run.trashed_at)).exists()
    if is_trashed:
        delete_run(run)
    return is_trashed


@whole
def delete_run(run: Run) -> None:
    """As `remove_run`, with an event in the audit log."""
    remove_run(run)
    record(Act.RUN_DELETED, run.workspace, subject=run.pk, subject_id=run.pk)


def trashed(condition: Q) -> QuerySet[Run]:
    """The runs in the trash for which this is true."""
    return Run.with_trash.filter(condition, trashed_at__isnull=False)
