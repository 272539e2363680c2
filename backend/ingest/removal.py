"""Taking a run away, for who uploaded the wrong thing."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from backend.ingest.models import Upload
from backend.runs.models import Cell, Observation, Run, Series
from backend.runs.registry import lock_names


@transaction.atomic
def remove_run(run: Run) -> None:
    """Delete a run with its trials and the uploads it came by, for ever.

    Frozen result sets keep what they show; an agent that sends the same upload once more makes
    the run anew. Files stay in the storage, where another upload may hold the same bytes.
    """
    # Alone, so that no recording takes a series that is about to go.
    lock_names(run.workspace, exclusive=True)
    # Of a run that came trial by trial, also those that are not read yet or brought nothing.
    named = Q(workspace=run.workspace_id, envelope__run__id=str(run.pk))
    uploads = Upload.objects.filter(Q(run=run) | Q(artefacts__trials__run=run) | named)
    # Locked first, so that a reading that is under way ends before, or finds nothing.
    held = list(Upload.objects.select_for_update().filter(pk__in=uploads.values("pk")))
    Upload.objects.filter(pk__in=[upload.pk for upload in held]).delete()
    Observation.objects.filter(run=run.pk, workspace=run.workspace_id).delete()
    Run.objects.filter(pk=run.pk).delete()
    # What nothing was measured of any more is no value that a link may name.
    measured = Cell.objects.filter(series=OuterRef("pk"))
    Series.objects.filter(~Exists(measured), workspace=run.workspace_id).delete()
    run.workspace.changed()
