"""The raw files that each trial was read from, and the uploads that made a run."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Q, QuerySet

from backend.accounts.models import Workspace
from backend.ingest.models import NAMED_RUN, Artefact, Upload
from backend.runs.database.bulk import among
from backend.runs.models import Trial


class Link(NamedTuple):
    """A trial, and an artefact that it was read from."""

    run_id: UUID
    ordinal: int
    artefact_id: UUID


def links_of_runs(run_ids: Sequence[UUID] | Sequence[str]) -> list[Link]:
    """The artefacts of the trials of these runs.

    In two statements: joined, tables without statistics were read once for each trial.
    """
    rows = Trial.objects.filter(run_id__in=run_ids).order_by()
    trials = {pk: (run, at) for pk, run, at in rows.values_list("pk", "run_id", "ordinal")}
    pairs = Artefact.trials.through.objects.filter(trial_id__in=list(trials))
    return [
        Link(*trials[trial_id], artefact_id)
        for trial_id, artefact_id in pairs.values_list("trial_id", "artefact_id")
    ]


def uploads_by_name(workspace_id: UUID, run_ids: Collection[UUID]) -> QuerySet[Upload]:
    """The uploads of a workspace that are one of these runs, or name one in their envelope.

    Those of early trials do, read or not. Other workspaces may name the run too.
    """
    rows = Upload.objects.alias(named_run=NAMED_RUN).filter(workspace=workspace_id)
    named = Q(named_run__in=[run_id.hex for run_id in run_ids])
    return rows.filter(Q(run__in=run_ids) | named).order_by()


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
