"""Removing the data of deleted workspaces, a few runs at a time."""

from __future__ import annotations

import logging
import time

from django.db import transaction

from backend.accounts import audit
from backend.accounts.models import Workspace
from backend.broker import forget_answers
from backend.ingest.collector import remove_unnamed_later
from backend.ingest.models import Artefact, Upload
from backend.ingest.parts import discard_of_workspace
from backend.ingest.removal import remove_run
from backend.runs.models import Run

log = logging.getLogger(__name__)

# Of one call: the worker has uploads to read. The next call goes on.
BUDGET_S = 20.0
UPLOADS_AT_ONCE = 100


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
    while _remove_some_uploads(workspace):
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


def _remove_some_uploads(workspace: Workspace) -> bool:
    """Remove uploads that became no run, with their files; False where there were none."""
    with transaction.atomic():
        rows = Upload.objects.select_for_update().filter(workspace=workspace)
        ids = list(rows.values_list("pk", flat=True)[:UPLOADS_AT_ONCE])
        files = list(Artefact.objects.filter(upload__in=ids).values_list("sha256", flat=True))
        Upload.objects.filter(pk__in=ids).delete()
    remove_unnamed_later(files)
    return bool(ids)
