"""The settings of a workspace: when a difference is relevant, what must match; how full it is.

And for how many days it keeps raw output.
"""

from collections.abc import Collection, Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST

from backend.accounts.models import Workspace
from backend.accounts.workspace.workspace_links import is_unlisted
from backend.accounts.workspace.workspaces import LARGEST_SHARE, MIN_TRIALS, change_settings
from backend.analysis.query.factors import DEFAULT_MUST_MATCH, HOST_FACTORS, chosen_factors
from backend.errors import InvalidInput
from backend.ingest.quota.usage import usage_of
from backend.ingest.removing.retention import DAYS, count_due_output
from backend.links import link_to
from backend.sharing.readers import readers_of_runs
from backend.sharing.workspace_secrets import NotOpened
from backend.stats.thresholds import LEAST_TRIALS
from backend.web.base import visible
from backend.whole_numbers import whole_number


class NotSaved(InvalidInput):
    """A field was refused, and nothing was saved."""


@require_http_methods(["GET", "HEAD", "POST"])
def workspace_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """The settings form. Only admins and owners see it; everyone else gets 404."""
    workspace = visible.administered_workspace_or_404(request, slug)
    if request.method != "POST":
        return settings_form(request, workspace, refused={})
    try:
        fields = {
            "relevant_share": _share(request.POST.get("relevant_percent", "")),
            "min_trials": _trials(request.POST.get("min_trials", "")),
            "must_match": _factors(request.POST.getlist("must_match")),
        }
    except NotSaved as refused:
        return settings_form(request, workspace, refused={"settings": str(refused)})
    change_settings(workspace, fields)
    messages.info(
        request, "Saved. Comparisons use the new settings. Frozen result sets do not change."
    )
    return HttpResponseRedirect(request.path)


@require_POST
def readers(request: HttpRequest, slug: str) -> HttpResponse:
    """Make the workspace public, or private again. Field: is_public. For owners."""
    workspace = visible.owned_workspace_or_404(request, slug)
    try:
        is_public = request.POST.get("is_public") == "1"
        owner = visible.viewer_or_404(request)
        change_settings(workspace, {"is_public": is_public}, owner=owner)
    except NotOpened as refused:
        return settings_form(request, workspace, refused={"readers": str(refused)}, error=refused)
    workspace.refresh_from_db()
    messages.info(request, f"Saved. {readers_of_runs(workspace)}")
    return HttpResponseRedirect(link_to("settings", workspace.slug))


def _share(text: str) -> float:
    try:
        share = float(text) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share <= LARGEST_SHARE:
        raise NotSaved(
            f"The relevant difference is “{text[:20]}”; expected 0 to {LARGEST_SHARE:.0%}."
        )
    return share


def _trials(text: str) -> int:
    trials = whole_number(text, MIN_TRIALS)
    if trials is None:
        raise NotSaved(
            f"Trials per load point is “{text[:20]}”; expected a whole number from "
            f"{MIN_TRIALS.start} to {MIN_TRIALS.stop - 1}."
        )
    return trials


def _factors(given: list[str]) -> list[str] | None:
    """As `chosen_factors`. Raises NotSaved."""
    for name in given:
        if name not in HOST_FACTORS:
            raise NotSaved(
                f"There is no fact “{name[:40]}”; expected some of {', '.join(HOST_FACTORS)}."
            )
    return chosen_factors(given)


def settings_form(
    request: HttpRequest,
    workspace: Workspace,
    *,
    refused: Mapping[str, str],
    error: NotOpened | None = None,
) -> HttpResponse:
    """The page with its forms. `refused`: why, by the form: rename, settings, readers, raw_output,
    link or delete. `error`: why others may not read the workspace.

    A refused form keeps what was typed into it.
    """
    sent = request.POST if "settings" in refused else None
    saved = DEFAULT_MUST_MATCH if workspace.must_match is None else workspace.must_match
    chosen = sent.getlist("must_match") if sent is not None else saved
    context: dict[str, Any] = {
        "workspace": workspace,
        "refused": refused,
        "not_opened": error,
        "given": {
            "name": request.POST.get("name", workspace.name),
            "slug": request.POST.get("slug", workspace.slug),
            "confirm": request.POST.get("confirm", ""),
            "days": request.POST.get("days", workspace.raw_kept_days or ""),
        },
        "is_public": "readers" in refused or workspace.is_public,
        "is_unlisted": is_unlisted(workspace),
        "readers": readers_of_runs(workspace),
        "may_delete": visible.may_own(request, workspace),
        "usage": usage_of(workspace.pk),
        "percent": sent.get("relevant_percent", "")
        if sent is not None
        else f"{100 * workspace.relevant_share:g}",
        "min_trials": sent.get("min_trials", "") if sent is not None else workspace.min_trials,
        "least_trials": LEAST_TRIALS,
        "factors": _factor_choices(chosen),
    }
    return render(request, "settings.html", context, status=400 if refused else 200)


def _factor_choices(chosen: Collection[str]) -> list[dict[str, Any]]:
    """The facts of hosts that may have to match, and which are chosen."""
    return [
        {
            "id": factor.id,
            "label": factor.word[0].upper() + factor.word[1:],
            "chosen": factor.id in chosen,
            "usual": factor.id in DEFAULT_MUST_MATCH,
        }
        for factor in HOST_FACTORS.values()
    ]


@require_POST
def raw_output(request: HttpRequest, slug: str) -> HttpResponse:
    """Fields: days (empty: for ever), and is_confirmed where raw output goes now.

    Without is_confirmed the page says how much would be removed, and asks again.
    """
    workspace = visible.administered_workspace_or_404(request, slug)
    text = request.POST.get("days", "").strip()
    days = whole_number(text, DAYS)
    if text and days is None:
        sentence = (
            f"The days are “{text[:20]}”; expected a whole number from {DAYS.start} to "
            f"{DAYS.stop - 1}, or nothing."
        )
        return settings_form(request, workspace, refused={"raw_output": sentence})
    if days is not None and not request.POST.get("is_confirmed"):
        due = count_due_output(workspace, days)
        if due.files:
            context = {"workspace": workspace, "days": days, "due": due}
            return render(request, "raw_output.html", context)
    change_settings(workspace, {"raw_kept_days": days})
    kept = "for ever" if days is None else f"for {days} day{'' if days == 1 else 's'}"
    messages.info(request, f"Saved. Raw output is kept {kept}.")
    return HttpResponseRedirect(link_to("settings", workspace.slug))
