"""Removing the data of deleted workspaces, a few runs at a time."""

import logging
from collections.abc import Generator
from uuid import UUID

from backend.accounts import audit
from backend.accounts.models import Workspace
from backend.accounts.workspace.turns import (
    Work,
    forget_turns_of_workspace,
    guarded,
    take_turns,
)
from backend.broker import forget_answers
from backend.ingest.artefacts.parts import discard_of_workspace
from backend.ingest.models import Part, Upload
from backend.ingest.quota.quota import lock_room
from backend.ingest.removing.removal import remove_run
from backend.ingest.removing.upload_removal import UPLOADS_AT_ONCE, remove_uploads_of_workspace
from backend.runs.models import Run
from backend.runs.registry.registry import lock_names
from backend.transactions import whole

log = logging.getLogger(__name__)

# Of one call: the worker has uploads to read. The next call goes on.
BUDGET_S = 20.0


def purge_deleted_workspaces(budget_s: float = BUDGET_S) -> int:
    """Remove what deleted workspaces still have; returns how many are gone completely.

    Persons take turns. A workspace with a fault is tried again in the next call.
    """
    deleted = Workspace.objects.exclude(deleted_at=None).order_by("deleted_at")
    workspaces = {workspace.pk: workspace for workspace in deleted}
    gone: list[UUID] = []

    def purge(workspace_id: UUID) -> Generator[None]:
        yield from _empty(workspaces[workspace_id])
        if discard_of_workspace(workspace_id) and _remove_row(workspaces[workspace_id]):
            gone.append(workspace_id)
            forget_answers()
            log.info("workspace_purged", extra={"workspace": str(workspace_id)})

    take_turns(Work.PURGE, workspaces, purge, budget_s)
    return len(gone)


@whole
def _remove_row(workspace: Workspace) -> bool:
    """Remove the workspace itself with the little that hangs on it; False, and nothing is removed,
    where a run, an upload or a part has come since, or could not be removed.
    """
    lock_names(workspace, exclusive=True)
    # What is being received is written before, or finds no workspace.
    lock_room(workspace.pk)
    for model in (Run, Upload, Part):
        # The base manager: the trash counts.
        if model._base_manager.filter(workspace=workspace.pk).exists():
            return False
    audit.purge(workspace.pk)
    forget_turns_of_workspace(workspace.pk)
    Workspace.objects.filter(pk=workspace.pk).delete()
    return True


def _empty(workspace: Workspace) -> Generator[None]:
    """Remove the runs and uploads of a workspace, a few at a time. What cannot be removed holds up
    nothing after it, and is tried again in the next call."""
    runs = Run.with_trash.filter(workspace=workspace).order_by("pk")
    left = runs
    while run_ids := list(left.values_list("pk", flat=True)[:UPLOADS_AT_ONCE]):
        for run_id in run_ids:
            with guarded("run_not_removed", run=run_id):
                if (run := runs.filter(pk=run_id).first()) is not None:
                    remove_run(run)
            yield
        left = runs.filter(pk__gt=run_ids[-1])
    yield from remove_uploads_of_workspace(workspace)
