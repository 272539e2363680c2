"""The live comparison of a workspace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps

import orjson
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
from backend.analysis.query.fields import page_fields
from backend.links import absolute, link_to, query_string
from backend.runs.listing import run_count
from backend.sharing.drawing import image_of_view
from backend.web import visible
from backend.web.errors import not_understood
from backend.web.home import first_steps
from backend.web.result_set_answers import image

Question = tuple[Workspace, CompareQuery]


def asking(view: Callable[[HttpRequest, Question], HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorate a view of a comparison: it gets the workspace and the parsed query.

    A link with a former name of a server, host or workload redirects to the current name.
    """

    @require_safe
    @wraps(view)
    def asked(request: HttpRequest, slug: str) -> HttpResponse:
        workspace = visible.workspace_or_404(request, slug)
        try:
            parsed = CompareQuery.parse(request.GET)
            # The path names the workspace, so the query may not name another.
            named, parsed = parsed.workspace, replace(parsed, workspace=None)
            if named not in (None, workspace.slug):
                raise UnknownValue("workspace", named or "", {workspace.slug})
            current = resolve_query(parsed, [workspace.pk])
            if current != parsed:
                return HttpResponseRedirect(f"{request.path}?{current.canonical()}")
            return view(request, (workspace, current))
        except QueryError as error:
            return not_understood(request, error, link_to("compare-page", slug))
        except NotVisible:
            raise Http404 from None

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
    here, ids = replace(parsed, workspace=workspace.slug), [workspace.pk]
    kept = get_or_compute_json("compare", here, ids, lambda: figures_of(here, workspace_ids=ids))
    page = absolute(link_to("compare-page", workspace.slug, query=parsed.canonical()))
    return image(request, lambda: image_of_view(orjson.loads(kept), page))
