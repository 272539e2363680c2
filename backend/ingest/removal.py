"""Deleting a run for good."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.db.models.functions import Coalesce, Length

from backend.accounts.models import Workspace
from backend.ingest.collector import remove_unnamed_later
from backend.ingest.evidence import uploads_by_name
from backend.ingest.models import Artefact, Upload
from backend.ingest.quota import add, bytes_of_uploads
from backend.noise.record import hosts_of, refresh_hosts
from backend.runs.among import among
from backend.runs.models import Observation, Run, Trial
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
    _remove_uploads(run.workspace, run.pk, uploads_of_runs(run.workspace, [run.pk]))
    Run.with_trash.filter(pk=run.pk).delete()
    remove_unused(run.workspace_id)
    refresh_hosts(hosts_of(run))
    run.workspace.changed()


@transaction.atomic
def remove_unread(workspace: Workspace, run_id: UUID) -> bool:
    """Delete the uploads that would make this run when they are read; whether there were any.

    A run without an id in its envelope gets that of its upload.
    """
    own = Upload.objects.filter(pk=run_id, workspace=workspace).order_by()
    named = uploads_by_name(workspace.pk, [run_id])
    uploads = _any_of(own.values_list("pk"), named.values_list("pk"))
    return _remove_uploads(workspace, run_id, uploads)


def _remove_uploads(workspace: Workspace, run_id: UUID, uploads: QuerySet[Upload]) -> bool:
    """Delete the uploads with their raw files, and what agents observed of the run."""
    # Locked first, so that a reading that is under way ends before, or finds nothing.
    ids = [upload.pk for upload in uploads.select_for_update()]
    files = list(Artefact.objects.filter(upload__in=ids).values_list("sha256", flat=True))
    observations = Observation.objects.filter(run=run_id, workspace=workspace)
    add(workspace.pk, -bytes_of_uploads(ids) - _bytes_of(observations))
    Upload.objects.filter(pk__in=ids).delete()
    observations.delete()
    transaction.on_commit(partial(remove_unnamed_later, files), robust=True)
    return bool(ids)


def _bytes_of(observations: QuerySet[Observation]) -> int:
    total = observations.aggregate(total=Coalesce(Sum(Length("packed")), 0))["total"]
    return int(total)


def uploads_of_runs(workspace: Workspace, run_ids: Collection[UUID]) -> QuerySet[Upload]:
    """The uploads of these runs, those of single trials that are unread or empty included."""
    trials = ArraySubquery(Trial.objects.filter(run__in=run_ids).order_by().values("pk"))
    files = Artefact.trials.through.objects.filter(among("trial", trials))
    named = uploads_by_name(workspace.pk, run_ids)
    return _any_of(named.values_list("pk"), files.values_list("artefact__upload"))


def _any_of(*ids: QuerySet[Any, Any]) -> QuerySet[Upload]:
    """The uploads with these ids. Of one condition with OR over tables, each of their rows would be
    read."""
    first, *others = ids
    return Upload.objects.filter(pk__in=first.union(*others, all=True))
