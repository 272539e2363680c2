"""Changing a result set, and what changed since it was frozen."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from backend.analysis.query.compare_query import QueryError
from backend.sharing.badge import figure_text
from backend.sharing.differences import Difference, differences_since
from backend.sharing.edits import EditRefused, edit, revoke, supersede, withdraw
from backend.sharing.models import ResultSet
from backend.sharing.reading import find_result_set
from backend.web import visible
from backend.web.result_set_forms import (
    BadForm,
    end_from,
    notes_from,
    title_from,
    visibility_from,
)
from backend.web.result_sets import bad_form
from backend.web.shared import gone, guarded, no_answer

REASON_LENGTH = 1_000
Change = Callable[[HttpRequest, ResultSet], None]


def change(make: Change) -> Callable[[HttpRequest, UUID], HttpResponse]:
    """A form of its managers; back to its page afterwards."""

    @require_POST
    @wraps(make)
    def changed(request: HttpRequest, link: UUID) -> HttpResponse:
        found = visible.manageable_result_set_or_404(request, link)
        try:
            make(request, found)
        except (BadForm, EditRefused) as refused:
            return bad_form(request, refused)
        return HttpResponseRedirect(found.path)

    return changed


@change
def edit_result_set(request: HttpRequest, found: ResultSet) -> None:
    """Who may read it and until when, its notes, and of a live one its title."""
    form = request.POST
    fields: dict[str, Any] = {}
    if "visibility" in form:
        fields["visibility"] = visibility_from(form["visibility"])
    if "last_day" in form:
        fields["expires_at"] = end_from(form["last_day"])
    if "notes" in form:
        fields["notes"] = notes_from(form)
    if "title" in form:
        fields["title"] = title_from(form) or found.title
    edit(found, **fields)


@change
def supersede_result_set(request: HttpRequest, found: ResultSet) -> None:
    """Name the newer one by its address, or none by an empty field."""
    given = request.POST.get("by", "").strip()
    supersede(found, _linked(given, found) if given else None)


def _linked(given: str, found: ResultSet) -> ResultSet:
    """The result set an address or an id leads to, of the same workspace."""
    ids = re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", given[-200:].lower())
    newer = ids and find_result_set(UUID(ids[-1]), workspace_ids=[found.workspace_id])
    if not newer or newer.workspace_id != found.workspace_id:
        raise BadForm(
            f"by: got {given[:80]!r}, expected the address of a result set of this workspace."
        )
    return newer


@change
def withdraw_result_set(request: HttpRequest, found: ResultSet) -> None:
    """Leave only a tombstone with the reason."""
    withdraw(found, request.POST.get("reason", "").replace("\0", "")[:REASON_LENGTH])


@change
def revoke_result_set(request: HttpRequest, found: ResultSet) -> None:
    """Move it to a new address; the old one leads nowhere."""
    revoke(found)


@require_safe
def changes(request: HttpRequest, link: UUID) -> HttpResponse:
    """What the same question gives now. Of the workspace's runs as they are, so for members."""
    found = visible.result_set_or_404(request, link)
    if not (visible.is_member(request, found) and found.is_frozen):
        raise Http404
    if found.is_gone:
        return guarded(found, gone(request, found))
    try:
        differences = differences_since(found)
    except QueryError as error:
        return guarded(found, no_answer(request, error))
    context: Mapping[str, Any] = {
        "workspace": found.workspace,
        "result_set": found,
        "differences": differences,
        "figures": [_row(one) for one in differences.figures],
    }
    return guarded(found, render(request, "result_set_changes.html", context))


def _row(one: Difference) -> dict[str, Any]:
    """A figure then and now, in words of the screen."""
    found = one.ratio
    ratio = "" if found is None or found.value is None else f"{found.value:.3g}×"
    if found is not None and found.low is not None and found.high is not None:
        ratio += f" [{found.low:.3g}, {found.high:.3g}]"
    before, after = _text(one.before, one.unit), _text(one.after, one.unit)
    if before == after:  # three digits do not tell them apart
        before, after = f"{one.before!r} {one.unit}", f"{one.after!r} {one.unit}"
    return {"difference": one, "before": before, "after": after, "ratio": ratio}


def _text(value: float | None, unit: str) -> str:
    return "unknown" if value is None else figure_text(value, unit)
