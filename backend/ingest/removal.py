"""Deleting a run for good."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Length

from backend.accounts.models import Workspace
from backend.ingest.collector import remove_unnamed_later
from backend.ingest.models import Artefact, Upload
from backend.ingest.quota import add, bytes_of_uploads
from backend.noise.record import hosts_of, refresh_hosts
from backend.runs.models import Observation, Run
from backend.runs.registry import lock_names
from backend.runs.unused import remove_unused


@transaction.atomic
def remove_run(run: Run) -> None:
    """Delete a run with its trials, its uploads and their raw files permanently.

    Frozen result sets keep what they show; an agent that sends the same upload once more makes
    the run anew. A file stays where another upload holds the same bytes.
    """
    # Alone, so that no recording takes a series that is about to go.
    lock_names(run.workspace, exclusive=True)
    # Locked first, so that a reading that is under way ends before, or finds nothing.
    held = list(uploads_of_runs(run.workspace, [run.pk]).select_for_update())
    ids = [upload.pk for upload in held]
    files = list(Artefact.objects.filter(upload__in=ids).values_list("sha256", flat=True))
    observations = Observation.objects.filter(run=run.pk, workspace=run.workspace_id)
    add(run.workspace_id, -bytes_of_uploads(ids) - _bytes_of(observations))
    Upload.objects.filter(pk__in=ids).delete()
    observations.delete()
    Run.with_trash.filter(pk=run.pk).delete()
    remove_unused(run.workspace_id)
    refresh_hosts(hosts_of(run))
    run.workspace.changed()
    transaction.on_commit(partial(remove_unnamed_later, files), robust=True)


def _bytes_of(observations: QuerySet[Observation]) -> int:
    total = observations.aggregate(total=Coalesce(Sum(Length("packed")), 0))["total"]
    return int(total)


def uploads_of_runs(workspace: Workspace, run_ids: Collection[UUID]) -> QuerySet[Upload]:
    """The uploads of these runs, those of single trials that are unread or empty included."""
    named = Q(workspace=workspace, envelope__run__id__in=[str(run_id) for run_id in run_ids])
    own = Q(run__in=run_ids) | Q(artefacts__trials__run__in=run_ids)
    return Upload.objects.filter(pk__in=Upload.objects.filter(own | named).values("pk"))
