"""The live comparison of a workspace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps

import msgspec
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.accounts import access
from backend.accounts.models import Workspace
from backend.analysis.compare.comparison import compare_as_json
from backend.analysis.figures import Figures
from backend.analysis.loading.selection import resolve_query
from backend.analysis.loading.validation import UnknownValue
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.fields import page_fields
from backend.links import absolute, link_to, query_string
from backend.runs.listing import run_count
from backend.sharing.drawing import image_of_view
from backend.web import visible
from backend.web.home import first_steps

Question = tuple[Workspace, CompareQuery]


def asking(view: Callable[[HttpRequest, Question], HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorate a view of a comparison: it gets the workspace and the parsed query.

    A link with a former name of a server, host or workload redirects to the current name.
    """

    @require_safe
    @wraps(view)
    def asked(request: HttpRequest, slug: str) -> HttpResponse:
        workspace = visible.workspace_or_404(request, slug)
        parsed = CompareQuery.parse(request.GET)
        # The path names the workspace, so the query may not name another.
        named, parsed = parsed.workspace, replace(parsed, workspace=None)
        if named not in (None, workspace.slug):
            raise UnknownValue("workspace", named or "", {workspace.slug})
        current = resolve_query(parsed, [workspace.pk])
        if current != parsed:
            return HttpResponseRedirect(f"{request.path}?{current.canonical()}")
        return view(request, (workspace, current))

    return asked


@asking
def compare(request: HttpRequest, question: Question) -> HttpResponse:
    """The comparison page. Its figures come from the API with the same query string.

    A workspace without runs gets the first steps instead.
    """
    workspace, parsed = question
    if not run_count([workspace.pk]):
        steps = first_steps(request, workspace)
        return render(request, "compare_nothing.html", {**steps, "nav": "compare"})
    query, here = parsed.canonical(), {"workspace": workspace.slug}
    asked = "&".join(filter(None, (query, query_string(here.items()))))
    writable = access.may_write(visible.viewer(request), workspace.pk)
    context = {
        "workspace": workspace,
        "nav": "compare",
        "query": query,
        "query_fields": page_fields(),
        "api_url": link_to("compare", query=here),
        "json_url": link_to("compare", query=asked),
        "csv_url": link_to("compare-csv", query=asked),
        "png_url": link_to("compare-png", workspace.slug, query=query),
        "share_url": link_to("share", workspace.slug) if writable else "",
    }
    return render(request, "compare.html", context)


@asking
def as_png(request: HttpRequest, question: Question) -> HttpResponse:
    """The chart of the query as an image, with the link of its page in it."""
    workspace, parsed = question
    here = replace(parsed, workspace=workspace.slug)
    kept = compare_as_json(here, workspace_ids=[workspace.pk])
    page = absolute(link_to("compare-page", workspace.slug, query=parsed.canonical()))
    png = image_of_view(msgspec.json.decode(kept, type=Figures), page)
    return HttpResponse(png, content_type="image/png")
