"""Removing the data of deleted workspaces, a few runs at a time."""

import logging
import time

from django.db import transaction

from backend.accounts import audit
from backend.accounts.models import Workspace
from backend.broker import forget_answers
from backend.ingest.parts import discard_of_workspace
from backend.ingest.removal import remove_run
from backend.ingest.upload_removal import UPLOADS_AT_ONCE, remove_some_uploads
from backend.runs.models import Run

log = logging.getLogger(__name__)

# Of one call: the worker has uploads to read. The next call goes on.
BUDGET_S = 20.0


def purge_deleted_workspaces(budget_s: float = BUDGET_S) -> int:
    """Remove what deleted workspaces still have; returns how many are gone completely."""
    deadline = time.monotonic() + budget_s
    gone = 0
    for workspace in Workspace.objects.exclude(deleted_at=None).order_by("deleted_at"):
        gone += _purge(workspace, deadline)
    return gone


def _purge(workspace: Workspace, deadline: float) -> bool:
    """Whether nothing is left."""
    for run in Run.with_trash.filter(workspace=workspace).iterator(chunk_size=UPLOADS_AT_ONCE):
        if time.monotonic() > deadline:
            return False
        remove_run(run)
    while remove_some_uploads(workspace):
        if time.monotonic() > deadline:
            return False
    if not discard_of_workspace(workspace.pk):
        return False
    with transaction.atomic():
        audit.purge(workspace.pk)
        workspace.delete()
    forget_answers()
    log.info("workspace_purged", extra={"workspace": str(workspace.pk)})
    return True
