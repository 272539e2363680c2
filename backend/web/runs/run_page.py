"""One run with its trials and their evidence, and its deletion."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from backend.accounts.models import Workspace
from backend.analysis.loading.large_runs import hold_slot_if_long
from backend.analysis.loading.selection import NotVisible
from backend.analysis.loading.series_cache import load_catalogue
from backend.analysis.pages.reproduction import Reproduction
from backend.analysis.pages.run import describe_corrections, describe_run
from backend.fleet.progress import RunProgress, run_progress
from backend.ingest.listing.download import plan_file
from backend.ingest.listing.listed_artefacts import artefacts_of_trials
from backend.ingest.models import Upload
from backend.ingest.reprocessing.rereadings import rereadings_of
from backend.links import absolute, compare_link, link_to, links_by_id, session_link
from backend.runs.catalogue.run_states import count_not_read
from backend.runs.models import Run, Series
from backend.runs.registry.shown import shown_series
from backend.sharing.run_sharing import describe_sharing
from backend.web.base import visible
from backend.web.base.large_page import render_large
from backend.web.runs.run_context import run_again_command, run_context
from backend.web.runs.trial_listing import TrialListing, list_trials


@require_safe
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The trials of the run with commands and raw output, and the facts of the hosts."""
    progress = visible.or_404(run_progress(run_id, workspace_ids=visible.workspaces(request)))
    hold_slot_if_long([run_id], viewer=visible.viewer_name(request), has_details=False)
    try:
        view = describe_run(run_id, workspace_ids=visible.workspaces(request))
    except NotVisible:
        return _waiting(request, progress)
    workspace = visible.workspace_or_404(request, view["workspace"])
    load_catalogue(workspace.pk, viewer=visible.viewer_name(request))
    run = Run.objects.select_related("workspace").get(pk=run_id)
    is_own = visible.is_own(request, workspace)
    if not is_own:
        view["not_read"] = count_not_read(view["not_read"])
    listing = list_trials(view["trials"], request.GET)
    context = run_context(run, _with_evidence(run_id, view, listing), listing)
    upload = Upload.objects.filter(run_id=run_id).only("id").first() if is_own else None
    sharing = describe_sharing(run) if is_own else None
    context |= {
        "workspace": workspace,
        "nav": "runs",
        "session_url": _session_url(workspace, view["session"]),
        "progress": progress,
        "reproduce_commands": _reproduce_commands(run_id, context["again"]),
        "plan_url": link_to("run-plan-page", run_id),
        "agent_url": link_to("agents-page", workspace.slug),
        "may_dismiss": visible.may_write(request, workspace),
        "sharing": sharing,
        "shared_url": absolute(sharing.path) if sharing and sharing.path else "",
        "compare_url": compare_link(workspace.slug, run=run_id),
        "versions_url": _versions_link(workspace, run_id),
        "upload": upload and {"url": link_to("upload-page", upload.pk)},
    }
    return render_large(request, "run.html", context)


def _with_evidence(run_id: UUID, view: Mapping[str, Any], listing: TrialListing) -> dict[str, Any]:
    """The run with its history; its trials, in place, with their pages, those listed with files."""
    page_of = links_by_id("trial-page")
    for trial in view["trials"]:
        trial["url"] = page_of(trial["id"])
    files = artefacts_of_trials([trial["id"] for trial in listing.trials])
    for trial in listing.trials:
        trial.update(files[trial["id"]].shown)
    history = {
        "rereadings": rereadings_of(run_id),
        "corrections": describe_corrections(run_id),
    }
    return {**view, **history}


def _versions_link(workspace: Workspace, run_id: UUID) -> str:
    """The comparison of the run's server over its versions; empty if the run has several
    servers or workloads, or no other version was measured.
    """
    names = ("server__name", "workload__name")
    measured = list(Series.objects.filter(cells__run=run_id).values_list(*names).distinct()[:2])
    if len(measured) != 1:
        return ""
    ((server, workload),) = measured
    same = shown_series([workspace.pk]).filter(server__name=server, workload__name=workload)
    versions = same.exclude(server__version=None).order_by().values("server__version").distinct()
    if versions.count() < 2:
        return ""
    return compare_link(workspace.slug, server=server, workload=workload, series="version")


def _reproduce_commands(run_id: UUID, again: Reproduction | None) -> str:
    """What fetches the plan and runs it again."""
    plan_url = absolute(link_to("run-plan", run_id))
    fetch = f'curl -fsS -H "Authorization: Bearer $LOADSHEET_TOKEN" -o plan.toml {plan_url}'
    return f"{fetch}\n{run_again_command(again)}"


def _session_url(workspace: Workspace, session: Mapping[str, Any]) -> str:
    name = session.get("name")
    return session_link(workspace.slug, name) if name else ""


def _waiting(request: HttpRequest, progress: RunProgress) -> HttpResponse:
    """A run that its agent has announced, before any trial has arrived."""
    workspace = Workspace.objects.get(pk=progress.workspace_id)
    context = {"workspace": workspace, "nav": "runs", "progress": progress}
    return render(request, "run_waiting.html", context)


@require_safe
def plan(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The plan of the run; its bytes are those that were hashed."""
    rows = Run.objects.filter(workspace__in=visible.workspaces(request)).exclude(plan="")
    return plan_file(get_object_or_404(rows, pk=run_id))
