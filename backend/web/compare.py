"""The live comparison of a workspace."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.accounts import access
from backend.analysis.cells import NotVisible, understood
from backend.analysis.known import UnknownValue
from backend.analysis.query import CompareQuery, QueryError
from backend.web import visible
from backend.web.errors import message


@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """The page; its figures come from the API by the same query string.

    A link with a name that its thing had before leads to the one with its name of now.
    """
    workspace = visible.workspace_or_404(request, slug)
    try:
        parsed = CompareQuery.parse(request.GET)
    except QueryError as error:
        return not_understood(request, error, f"/w/{workspace.slug}/compare")
    # The path names the workspace; the query need not, and cannot name another.
    asked_of, parsed = parsed.workspace, replace(parsed, workspace=None)
    try:
        if asked_of not in (None, workspace.slug):
            raise UnknownValue("workspace", asked_of or "", {workspace.slug})
        current = understood(parsed, [workspace.pk])
    except UnknownValue as unknown:
        return not_understood(request, unknown, f"/w/{workspace.slug}/compare")
    except NotVisible:
        raise Http404 from None
    query = current.canonical()
    if current != parsed:
        return HttpResponseRedirect(f"/w/{workspace.slug}/compare?{query}")
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
        "share_url": f"/w/{workspace.slug}/result-sets/new" if writable else "",
    }
    return render(request, "compare.html", context)


def not_understood(request: HttpRequest, error: QueryError, page: str) -> HttpResponse:
    """A query that names no view: which field, what was got, what is allowed."""
    return message(
        request,
        400,
        title="This link is not understood",
        sentence=str(error),
        hint=f"Correct the address, or start again from {page}.",
    )
