"""Frozen comparisons: making one, reading it in three formats, saying who may."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import orjson
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_POST, require_safe

from backend.analysis.cells import NotVisible
from backend.analysis.query import CompareQuery, QueryError
from backend.sharing import csv_of, find_result_set, set_visibility
from backend.sharing import freeze as freeze_view
from backend.sharing.models import ResultSet, Visibility
from backend.web import visible
from backend.web.compare import not_understood
from backend.web.errors import message

TITLE_LENGTH = 200


@require_POST
def freeze(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep the comparison as it is now, under a link of its own."""
    workspace = visible.writable_workspace_or_404(request, slug)
    visibility = _asked_visibility(request.POST.get("visibility") or Visibility.PRIVATE.value)
    if visibility is None:
        return _no_visibility(request)
    try:
        query = replace(CompareQuery.parse(request.POST.get("query", "")), workspace=slug)
        result_set = freeze_view(
            query,
            workspace=workspace,
            author=visible.viewer(request),
            title=request.POST.get("title", "").strip()[:TITLE_LENGTH],
            visibility=visibility,
        )
    except QueryError as error:
        return not_understood(request, error, f"/w/{workspace.slug}/compare")
    except NotVisible:
        raise Http404 from None
    return HttpResponseRedirect(f"/s/{result_set.pk}")


@require_safe
def result_set(request: HttpRequest, result_set_id: UUID) -> HttpResponse:
    """The frozen comparison as a page."""
    found = _found(request, result_set_id)
    link = f"/s/{found.pk}"
    manage = visible.may_manage(request, found)
    context = {
        "workspace": found.workspace if visible.is_member(request, found) else None,
        "result_set": found,
        "figures_url": f"{link}.json",
        "json_url": f"{link}.json",
        "csv_url": f"{link}.csv",
        "can_manage": manage,
        "visibility_url": f"{link}/visibility" if manage else "",
    }
    return _guarded(found, render(request, "result_set.html", context))


@require_safe
def as_json(request: HttpRequest, result_set_id: UUID) -> HttpResponse:
    """The very bytes the SHA-256 is over."""
    found = _found(request, result_set_id)
    answer = HttpResponse(bytes(found.snapshot), content_type="application/json")
    return _guarded(found, _kept(request, answer, found))


@require_safe
def as_csv(request: HttpRequest, result_set_id: UUID) -> HttpResponse:
    """The figures of the snapshot as a table."""
    found = _found(request, result_set_id)
    answer = HttpResponse(csv_of(_figures(found)), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="loadsheet-{found.pk}.csv"'
    return _guarded(found, answer)


@require_POST
def visibility(request: HttpRequest, result_set_id: UUID) -> HttpResponse:
    """Say who may read it: private, unlisted or public."""
    found = _found(request, result_set_id)
    if not visible.may_manage(request, found):
        raise Http404
    asked = _asked_visibility(request.POST.get("visibility", ""))
    if asked is None:
        return _no_visibility(request)
    set_visibility(found, asked)
    return HttpResponseRedirect(f"/s/{found.pk}")


def _found(request: HttpRequest, result_set_id: UUID) -> ResultSet:
    found = find_result_set(result_set_id, workspace_ids=visible.workspaces(request))
    if found is None:
        raise Http404
    return found


def _figures(found: ResultSet) -> Mapping[str, Any]:
    snapshot: dict[str, Any] = orjson.loads(bytes(found.snapshot))
    figures: dict[str, Any] = snapshot["figures"]
    return figures


def _kept(request: HttpRequest, answer: HttpResponse, found: ResultSet) -> HttpResponse:
    """The bytes never change, but who may read them does: a cache must ask each time."""
    etag = f'"{found.sha256}"'
    answer["ETag"] = etag
    if found.visibility == Visibility.PUBLIC:
        answer["Cache-Control"] = "no-cache"
    kept = get_conditional_response(request, etag, None, answer)
    return kept if isinstance(kept, HttpResponse) else answer


def _guarded(found: ResultSet, answer: HttpResponse) -> HttpResponse:
    """Unlisted links are kept out of indexes and of other sites' logs."""
    if found.visibility == Visibility.UNLISTED:
        answer["X-Robots-Tag"] = "noindex"
        answer["Referrer-Policy"] = "no-referrer"
    return answer


def _asked_visibility(asked: str) -> Visibility | None:
    return Visibility(asked) if asked in Visibility.values else None


def _no_visibility(request: HttpRequest) -> HttpResponse:
    return message(
        request,
        400,
        title="This visibility is not known",
        sentence=f"Who may read it must be one of: {', '.join(Visibility.values)}.",
        hint="Go back, choose one and send the form again.",
    )
