"""Which uploads made a run."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import QuerySet

from backend.accounts.models import Workspace
from backend.ingest.artefacts.evidence import uploads_by_name
from backend.ingest.models import Artefact, Upload
from backend.runs.database.among import among
from backend.runs.models import Trial


def uploads_of_runs(workspace: Workspace, run_ids: Collection[UUID]) -> QuerySet[Upload]:
    """The uploads of these runs, those of single trials that are unread or empty included."""
    trials = ArraySubquery(Trial.objects.filter(run__in=run_ids).order_by().values("pk"))
    files = Artefact.trials.through.objects.filter(among("trial", trials))
    named = uploads_by_name(workspace.pk, run_ids)
    return any_of(named.values_list("pk"), files.values_list("artefact__upload"))


def any_of(*ids: QuerySet[Any, Any]) -> QuerySet[Upload]:
    """The uploads with these ids. Of one condition with OR over tables, each of their rows would be
    read."""
    first, *others = ids
    return Upload.objects.filter(pk__in=first.union(*others, all=True))
