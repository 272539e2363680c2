"""Deleting a run, after a wrong upload."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Length

from backend.ingest.collector import remove_unnamed_later
from backend.ingest.models import Artefact, Upload
from backend.ingest.quota import add, bytes_of_uploads
from backend.noise.record import hosts_of, refresh_hosts
from backend.runs.models import Cell, Host, Observation, Run, Series, Server, Workload
from backend.runs.registry import lock_names


@transaction.atomic
def remove_run(run: Run) -> None:
    """Delete a run with its trials, its uploads and their raw files permanently.

    Frozen result sets keep what they show; an agent that sends the same upload once more makes
    the run anew. A file stays where another upload holds the same bytes.
    """
    # Alone, so that no recording takes a series that is about to go.
    lock_names(run.workspace, exclusive=True)
    # Includes uploads of single trials that are unread or empty.
    named = Q(workspace=run.workspace_id, envelope__run__id=str(run.pk))
    uploads = Upload.objects.filter(Q(run=run) | Q(artefacts__trials__run=run) | named)
    # Locked first, so that a reading that is under way ends before, or finds nothing.
    held = list(Upload.objects.select_for_update().filter(pk__in=uploads.values("pk")))
    ids = [upload.pk for upload in held]
    files = list(Artefact.objects.filter(upload__in=ids).values_list("sha256", flat=True))
    observations = Observation.objects.filter(run=run.pk, workspace=run.workspace_id)
    add(run.workspace_id, -bytes_of_uploads(ids) - _bytes_of(observations))
    Upload.objects.filter(pk__in=ids).delete()
    observations.delete()
    Run.objects.filter(pk=run.pk).delete()
    # Series without measurements go: links must not offer their values.
    measured = Cell.objects.filter(series=OuterRef("pk"))
    Series.objects.filter(~Exists(measured), workspace=run.workspace_id).delete()
    _remove_unused_names(run.workspace_id)
    refresh_hosts(hosts_of(run))
    run.workspace.changed()
    transaction.on_commit(partial(remove_unnamed_later, files), robust=True)


def _bytes_of(observations: QuerySet[Observation]) -> int:
    total = observations.aggregate(total=Coalesce(Sum(Length("packed")), 0))["total"]
    return int(total)


def _remove_unused_names(workspace_id: UUID) -> None:
    """Servers, workloads and hosts that nothing is measured of any more."""
    for model, name in ((Server, "server"), (Workload, "workload")):
        series = Series.objects.filter(**{name: OuterRef("pk")})
        model._default_manager.filter(~Exists(series), workspace=workspace_id).delete()
    is_host = Q(server_host=OuterRef("pk")) | Q(client_host=OuterRef("pk"))
    used = Exists(Series.objects.filter(is_host)) | Exists(Run.objects.filter(is_host))
    Host.objects.filter(~used, workspace=workspace_id).delete()
