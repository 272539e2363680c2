"""A run for the readers of its link, and sharing it from its page."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST, require_safe

from backend.analysis.loading.large_runs import hold_slot_if_long
from backend.analysis.loading.selection import NotVisible
from backend.analysis.loading.series_cache import load_catalogue
from backend.ingest.listing.download import plan_file
from backend.links import absolute, link_to, run_link
from backend.sharing.models import SharedRun, Visibility
from backend.sharing.run_sharing import describe_sharing, end_link, revoke_link, share_run
from backend.sharing.shared_run import describe_shared_run
from backend.web.base import visible
from backend.web.base.large_page import render_large
from backend.web.results.result_set_forms import visibility_from
from backend.web.runs.run_context import run_again_command, run_context
from backend.web.runs.run_edit import writable_run_or_404
from backend.web.runs.trial_listing import list_trials, place_of_trial


@require_safe
def shared_run(request: HttpRequest, shared_link: UUID) -> HttpResponse:
    """The run without raw output, members and other runs. A trial leads to its command below."""
    shared = visible.shared_run_or_404(request, shared_link)
    viewer = visible.viewer_name(request)
    hold_slot_if_long([shared.run_id], viewer=viewer, has_details=False)
    load_catalogue(shared.run.workspace_id, viewer=viewer)
    try:
        view = describe_shared_run(shared)
    except NotVisible:
        raise Http404 from None
    listing = list_trials(view["trials"], request.GET)
    listed = {trial["id"] for trial in listing.trials}
    for trial in view["trials"]:
        trial["url"] = place_of_trial(trial["id"], listed)
    context: dict[str, Any] = run_context(shared.run, view, listing)
    plan_url = link_to("shared-run-plan", shared_link)
    fetch = f"curl -fsS -o plan.toml {absolute(plan_url)}"
    context |= {
        "is_shared_page": True,
        "reproduce_commands": f"{fetch}\n{run_again_command(context['again'])}",
        "plan_url": plan_url,
        "agent_url": link_to("guide-page", "agents"),
    }
    return _unindexed(shared, render_large(request, "shared_run.html", context))


@require_safe
def plan(request: HttpRequest, shared_link: UUID) -> HttpResponse:
    """The plan of the run; its bytes are those that were hashed."""
    shared = visible.shared_run_or_404(request, shared_link)
    visible.or_404(shared.run.plan)
    return _unindexed(shared, plan_file(shared.run))


def _unindexed(shared: SharedRun, answer: HttpResponse) -> HttpResponse:
    """Keep an unlisted link out of search engines."""
    if shared.visibility == Visibility.UNLISTED:
        answer["X-Robots-Tag"] = "noindex"
    return answer


@require_POST
def share(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Field: visibility."""
    run = writable_run_or_404(request, run_id)
    share_run(run, visibility_from(request.POST.get("visibility", "")))
    messages.info(request, f"Saved. {describe_sharing(run).why}")
    return HttpResponseRedirect(run_link(run_id))


@require_POST
def revoke(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """End the link of the run; with `replace`, make a new one. The former one becomes 404."""
    run = writable_run_or_404(request, run_id)
    if request.POST.get("replace"):
        revoke_link(run)
        messages.info(request, "The run has a new link. The old link no longer works.")
    else:
        end_link(run)
        messages.info(request, f"The link was revoked. {describe_sharing(run).why}")
    return HttpResponseRedirect(run_link(run_id))
