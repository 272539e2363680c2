"""The live comparison of a workspace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from urllib.parse import urlencode

import orjson
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.accounts import access
from backend.accounts.models import Workspace
from backend.analysis.compare.comparison import compare as figures_of
from backend.analysis.loading.response_cache import get_or_compute_json
from backend.analysis.loading.selection import NotVisible, resolve_query
from backend.analysis.loading.validation import UnknownValue
from backend.analysis.query.compare_query import CompareQuery, QueryError
from backend.runs.listing import run_count
from backend.sharing.drawing import image_of_view
from backend.web import visible
from backend.web.errors import message
from backend.web.home import first_steps
from backend.web.shared import image

Question = tuple[Workspace, CompareQuery]


def asking(view: Callable[[HttpRequest, Question], HttpResponse]) -> Callable[..., HttpResponse]:
    """A view of a comparison: it gets the workspace and the query, which names no other.

    A link with a name that its thing had before leads to the one with its name of now.
    """

    @require_safe
    @wraps(view)
    def asked(request: HttpRequest, slug: str) -> HttpResponse:
        workspace = visible.workspace_or_404(request, slug)
        try:
            parsed = CompareQuery.parse(request.GET)
            # The path names the workspace; the query need not, and cannot name another.
            named, parsed = parsed.workspace, replace(parsed, workspace=None)
            if named not in (None, workspace.slug):
                raise UnknownValue("workspace", named or "", {workspace.slug})
            current = resolve_query(parsed, [workspace.pk])
            if current != parsed:
                return HttpResponseRedirect(f"{request.path}?{current.canonical()}")
            return view(request, (workspace, current))
        except QueryError as error:
            return not_understood(request, error, f"/w/{workspace.slug}/compare")
        except NotVisible:
            raise Http404 from None

    return asked


@asking
def compare(request: HttpRequest, question: Question) -> HttpResponse:
    """The page; its figures come from the API by the same query string. While there is no run at
    all it teaches how to send one."""
    workspace, parsed = question
    if not run_count([workspace.pk]):
        steps = first_steps(request, workspace)
        return render(request, "compare_nothing.html", {**steps, "nav": "compare"})
    query = parsed.canonical()
    only_here = urlencode({"workspace": workspace.slug})
    asked = f"{query}&{only_here}" if query else only_here
    writable = access.may_write(visible.viewer(request), workspace.pk)
    context = {
        "workspace": workspace,
        "nav": "compare",
        "query": query,
        "api_url": f"/api/v1/compare?{only_here}",
        "json_url": f"/api/v1/compare?{asked}",
        "csv_url": f"/api/v1/compare.csv?{asked}",
        "png_url": f"{request.path}.png?{query}",
        "share_url": f"/w/{workspace.slug}/result-sets/new" if writable else "",
    }
    return render(request, "compare.html", context)


@asking
def as_png(request: HttpRequest, question: Question) -> HttpResponse:
    """The chart of the same query as an image, with its link in it."""
    workspace, parsed = question
    here, ids = replace(parsed, workspace=workspace.slug), [workspace.pk]
    kept = get_or_compute_json("compare", here, ids, lambda: figures_of(here, workspace_ids=ids))
    query = parsed.canonical()
    page = f"{settings.PUBLIC_URL}/w/{workspace.slug}/compare{query and f'?{query}'}"
    return image(request, lambda: image_of_view(orjson.loads(kept), page))


def not_understood(request: HttpRequest, error: QueryError, page: str) -> HttpResponse:
    """A query that names no view: which field, what was got, what is allowed."""
    return message(
        request,
        400,
        title="This link is not understood",
        sentence=str(error),
        hint="Correct the address.",
        start=page,
    )
