"""The public directory."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.links import link_to
from backend.sharing.directory import KINDS, MAX_QUERY, directory_page

PER_PAGE = 25
NOUNS = {"result-sets": "result set", "runs": "run", "workspaces": "workspace"}
NOTHING = "No {} is public yet."
NOT_FOUND = "No public {} has these words in its title."
LABELS = {"result-sets": "Result sets", "runs": "Runs", "workspaces": "Workspaces"}


@require_safe
def explore(request: HttpRequest) -> HttpResponse:
    """Public result sets, runs or workspaces. Fields: kind, q, after."""
    kind = request.GET.get("kind") or KINDS[0]
    query = request.GET.get("q", "").strip()
    after = request.GET.get("after", "")
    page = directory_page(kind, query, after=after, limit=PER_PAGE)
    asked = {"kind": kind, **({"q": query} if query else {})}
    context = {
        "nav": "explore",
        "kind": kind,
        "query": query,
        "max_query": MAX_QUERY,
        "tabs": [
            (link_to("explore", query={**asked, "kind": each}), LABELS[each], each == kind)
            for each in KINDS
        ],
        "entries": page.rows,
        "nothing": (NOT_FOUND if query else NOTHING).format(NOUNS[kind]),
        "first_url": link_to("explore", query=asked) if after else "",
        "next_url": link_to("explore", query={**asked, "after": page.next}) if page.next else "",
    }
    return render(request, "explore.html", context)
