"""Changing a result set, and what changed since it was frozen."""

import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from backend.analysis.query.compare_query import QueryError
from backend.analysis.query.units import short_figure_text
from backend.sharing.differences import Difference, differences_since
from backend.sharing.edits import edit, end_link, revoke, supersede, withdraw
from backend.sharing.gallery import feature, stop_featuring
from backend.sharing.models import ResultSet
from backend.sharing.newer_runs import corrections_since
from backend.sharing.reading import find_result_set
from backend.stats import Ratio
from backend.web.base import visible
from backend.web.results.result_set_answers import gone, guarded, no_answer
from backend.web.results.result_set_forms import (
    BadForm,
    end_from,
    notes_from,
    title_from,
    visibility_from,
)
from backend.web.results.result_sets import newer_text

REASON_LENGTH = 1_000
Change = Callable[[HttpRequest, ResultSet], None]


def change(make: Change) -> Callable[[HttpRequest, UUID], HttpResponse]:
    """Decorate a change by a member of the workspace; it redirects to the result set."""

    @require_POST
    @wraps(make)
    def changed(request: HttpRequest, link: UUID) -> HttpResponse:
        result_set = visible.manageable_result_set_or_404(request, link)
        make(request, result_set)
        return HttpResponseRedirect(result_set.path)

    return changed


@change
def edit_result_set(request: HttpRequest, result_set: ResultSet) -> None:
    """Change title, visibility, last day and notes."""
    form = request.POST
    fields: dict[str, Any] = {}
    if "visibility" in form:
        fields["visibility"] = visibility_from(form["visibility"])
    if "last_day" in form:
        fields["expires_at"] = end_from(form["last_day"])
    if "notes" in form:
        fields["notes"] = notes_from(form)
    if "title" in form:
        fields["title"] = title_from(form) or result_set.title
    edit(result_set, **fields)


@change
def supersede_result_set(request: HttpRequest, result_set: ResultSet) -> None:
    """Name the newer result set by its address; an empty field names none."""
    given = request.POST.get("by", "").strip()
    supersede(result_set, _linked(given, result_set) if given else None)


def _linked(given: str, result_set: ResultSet) -> ResultSet:
    """The result set that an address or an id names, in the same workspace."""
    ids = re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", given[-200:].lower())
    newer = ids and find_result_set(UUID(ids[-1]), workspace_ids=[result_set.workspace_id])
    if not newer or newer.workspace_id != result_set.workspace_id:
        raise BadForm(
            f"by: got {given[:80]!r}, expected the address of a result set of this workspace."
        )
    return newer


@change
def withdraw_result_set(request: HttpRequest, result_set: ResultSet) -> None:
    """Replace it by a tombstone with the reason."""
    withdraw(result_set, request.POST.get("reason", "").replace("\0", "")[:REASON_LENGTH])


@change
def revoke_result_set(request: HttpRequest, result_set: ResultSet) -> None:
    """End its link; with `replace`, others read it at a new one. The old address becomes 404."""
    if request.POST.get("replace"):
        revoke(result_set)
        messages.info(request, "The result set has a new link. The old link no longer works.")
    else:
        end_link(result_set)
        messages.info(request, "The link was revoked. Only members of the workspace can read this.")


@require_POST
def feature_result_set(request: HttpRequest, link: UUID) -> HttpResponse:
    """Show it on the front page, or with is_featured=0 no longer, for the operator alone."""
    result_set = visible.result_set_or_404(request, link)
    visible.or_404(visible.is_operator(request))
    if request.POST.get("is_featured") == "0":
        stop_featuring(result_set)
    else:
        feature(result_set)
    return HttpResponseRedirect(result_set.path)


@require_safe
def changes(request: HttpRequest, link: UUID) -> HttpResponse:
    """The frozen query computed again. Only for members: it reads the runs as they are now."""
    result_set = visible.result_set_or_404(request, link)
    visible.or_404(visible.is_member(request, result_set) and result_set.is_frozen)
    if result_set.is_gone:
        return guarded(result_set, gone(request, result_set))
    try:
        differences = differences_since(result_set, viewer=visible.viewer_name(request))
    except QueryError as error:
        return guarded(result_set, no_answer(request, error))
    context: Mapping[str, Any] = {
        "workspace": result_set.workspace,
        "result_set": result_set,
        "differences": differences,
        "newer": newer_text(request, result_set),
        "corrections": corrections_since(result_set),
        "figures": [_row(difference) for difference in differences.figures],
    }
    return guarded(result_set, render(request, "result_set_changes.html", context))


def _row(difference: Difference) -> dict[str, Any]:
    """A figure then and now, as texts."""
    change_ratio = difference.ratio
    ratio = (
        "" if change_ratio is None or change_ratio.value is None else f"{change_ratio.value:.3g}×"
    )
    if change_ratio is not None and change_ratio.low is not None and change_ratio.high is not None:
        ratio += f" [{change_ratio.low:.3g}, {change_ratio.high:.3g}]"
    before, after = (
        _text(difference.before, difference.unit),
        _text(difference.after, difference.unit),
    )
    if before == after:  # three digits are not enough to see the difference
        before, after = (
            f"{difference.before!r} {difference.unit}",
            f"{difference.after!r} {difference.unit}",
        )
    return {
        "difference": difference,
        "before": before,
        "after": after,
        "ratio": ratio,
        "verdict": _verdict_text(change_ratio),
    }


def _verdict_text(ratio: Ratio | None) -> str:
    """`improved: beyond noise and threshold`; the reason alone where it says all."""
    if ratio is None:
        return ""
    return ratio.why if ratio.verdict == "size_uncertain" else f"{ratio.verdict}: {ratio.why}"


def _text(value: float | None, unit: str) -> str:
    return "unknown" if value is None else short_figure_text(value, unit)
