"""A run, and a trial, as the API answers it."""

from typing import Any
from uuid import UUID

from rest_framework.request import Request

from backend.accounts.workspace import access
from backend.analysis.loading.large_runs import hold_slot_if_long
from backend.analysis.pages.run import describe_corrections, describe_run, describe_single_trial
from backend.analysis.pages.run_trials import ALL_DETAILS, give_details
from backend.api.protocol.auth import required_actor, viewer_name
from backend.ingest.listing.listed_artefacts import (
    RAW_FOR_PROGRAMS,
    artefacts_of_trial,
    artefacts_of_trials,
)
from backend.ingest.reprocessing.rereadings import rereadings_of
from backend.runs.models import Run


def run_answer(request: Request, run_id: UUID) -> dict[str, Any]:
    """The run with its trials, as RunSerializer describes it. Raises NotVisible.

    A large one holds a slot of the sender until the answer is written.
    """
    workspaces = access.workspace_ids_of(required_actor(request))
    own = Run.objects.filter(pk=run_id, workspace__in=workspaces).values_list("pk", flat=True)
    hold_slot_if_long(list(own), viewer=viewer_name(request))
    view = describe_run(run_id, workspace_ids=workspaces)
    view["rereadings"] = rereadings_of(run_id)
    view["corrections"] = describe_corrections(run_id)
    trials = view["trials"]
    give_details(trials, ALL_DETAILS)
    files = artefacts_of_trials([trial["id"] for trial in trials], raw_route=RAW_FOR_PROGRAMS)
    for trial in trials:
        trial["run"] = view["id"]
        trial.update(files[trial["id"]].shown)
    return view


def trial_answer(request: Request, trial_id: UUID) -> dict[str, Any]:
    """One trial as its run has it. Raises NotVisible."""
    workspaces = access.workspace_ids_of(required_actor(request))
    trial = describe_single_trial(trial_id, workspace_ids=workspaces)
    trial["artefacts"] = artefacts_of_trial(trial_id, raw_route=RAW_FOR_PROGRAMS)
    trial["artefact_count"] = len(trial["artefacts"])
    return trial
