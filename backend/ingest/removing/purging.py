"""Removing the data of deleted workspaces, a few runs at a time."""

import logging
import time

from django.db import Error

from backend.accounts import audit
from backend.accounts.models import Workspace
from backend.accounts.workspace.turns import forget_turns_of_workspace
from backend.broker import forget_answers
from backend.ingest.artefacts.parts import discard_of_workspace
from backend.ingest.models import Part, Upload
from backend.ingest.quota.quota import lock_room
from backend.ingest.removing.removal import remove_run
from backend.ingest.removing.upload_removal import UPLOADS_AT_ONCE, remove_some_uploads
from backend.runs.models import Run
from backend.runs.registry.registry import NamesBusy, lock_names
from backend.runs.tables.large_columns import large_columns
from backend.transactions import whole

log = logging.getLogger(__name__)

# Of one call: the worker has uploads to read. The next call goes on.
BUDGET_S = 20.0


def purge_deleted_workspaces(budget_s: float = BUDGET_S) -> int:
    """Remove what deleted workspaces still have; returns how many are gone completely."""
    deadline = time.monotonic() + budget_s
    gone = 0
    for workspace in Workspace.objects.exclude(deleted_at=None).order_by("deleted_at"):
        try:
            gone += _purge(workspace, deadline)
        except (Error, NamesBusy):
            # The others go on; this one is tried again in the next call.
            log.exception("workspace_not_purged", extra={"workspace": str(workspace.pk)})
    return gone


@whole
def _remove_row(workspace: Workspace) -> bool:
    """Remove the workspace itself with the little that hangs on it; False, and nothing is removed,
    where an upload or a part has come since.
    """
    lock_names(workspace, exclusive=True)
    # What is being received is written before, or finds no workspace.
    lock_room(workspace.pk)
    for model in (Upload, Part):
        if model._default_manager.filter(workspace=workspace.pk).exists():
            return False
    audit.purge(workspace.pk)
    forget_turns_of_workspace(workspace.pk)
    Workspace.objects.filter(pk=workspace.pk).delete()
    return True


def _purge(workspace: Workspace, deadline: float) -> bool:
    """Whether nothing is left."""
    runs = Run.with_trash.filter(workspace=workspace).defer(*large_columns())
    for run in runs.iterator(chunk_size=UPLOADS_AT_ONCE):
        if time.monotonic() > deadline:
            return False
        remove_run(run)
    while remove_some_uploads(workspace):
        if time.monotonic() > deadline:
            return False
    if not (discard_of_workspace(workspace.pk) and _remove_row(workspace)):
        return False
    forget_answers()
    log.info("workspace_purged", extra={"workspace": str(workspace.pk)})
    return True
