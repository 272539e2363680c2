"""The search palette: pages, servers, hosts, workloads, runs and result sets of one workspace, or
of every workspace of the viewer; and in a group of its own what is public."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from backend.links import link_to
from backend.web.base import visible
from backend.web.documents.guide import document_titles
from backend.web.search.public_search import PUBLIC, with_public
from backend.web.search.search_results import EACH, Searched, find_named, result

MAX_LENGTH = 100


@require_safe
def search(request: HttpRequest, slug: str) -> JsonResponse:
    """{"results": [{"kind", "title", "hint", "url", "group"}]}, pages first; all pages while q is
    empty. `group`: "Public" for what is not of this workspace, else empty.
    """
    workspace = visible.workspace_or_404(request, slug)
    asked = _asked(request)
    pages = [*_PAGES]
    if visible.may_write(request, workspace):
        pages.append(("Upload", "new-upload"))
    if visible.is_own(request, workspace):
        pages.append(("Tokens", "tokens-page"))
    if visible.may_administer(request, workspace):
        pages += [("Settings", "settings"), ("Audit log", "audit")]
    links = [(title, link_to(route, slug)) for title, route in pages]
    results = [*_pages([*links, ("API", link_to("api-docs"))], asked)]
    results += find_named(request, Searched([workspace]), asked)
    return _answer(asked, with_public(request, results, asked))


@require_safe
def search_everywhere(request: HttpRequest) -> JsonResponse:
    """As `search`, in the workspaces of the viewer, with the pages of the site."""
    asked = _asked(request)
    searched = Searched(visible.searched_workspaces(request), names_workspaces=True)
    links = [(title, link_to(route)) for title, route in _SITE_PAGES]
    if visible.viewer(request) is not None:
        links.append(("Workspaces and account", link_to("workspaces")))
    if asked:
        links += [(title, link_to("guide-page", name)) for name, title in document_titles()]
    results = [*_workspaces(searched, asked), *_pages(links, asked)]
    results += find_named(request, searched, asked)
    results = with_public(request, results, asked)
    if asked:
        url = link_to("explore", query={"q": asked})
        page = result("page", f"Search “{asked}” in Explore", "what is public", url)
        results.append({**page, "group": PUBLIC})
    return _answer(asked, results)


def _asked(request: HttpRequest) -> str:
    return " ".join(request.GET.get("q", "").replace("\0", "").split())[:MAX_LENGTH]


def _answer(asked: str, results: Sequence[dict[str, Any]]) -> JsonResponse:
    return JsonResponse({"query": asked, "results": results})


_PAGES = (
    ("Compare", "first-comparison"),
    ("Runs", "runs-page"),
    ("Servers", "servers-page"),
    ("Hosts", "hosts-page"),
    ("Workloads", "workloads-page"),
    ("Result sets", "result-sets-page"),
    ("Front page and questions", "workspace"),
)
_SITE_PAGES = (
    ("Front page", "home"),
    ("Library", "library"),
    ("Explore", "explore"),
    ("Docs", "guide"),
    ("API", "api-docs"),
)


def _pages(links: Iterable[tuple[str, str]], asked: str) -> Iterator[dict[str, Any]]:
    for title, url in links:
        if asked.lower() in title.lower():
            yield result("page", title, "", url)


def _workspaces(searched: Searched, asked: str) -> Iterator[dict[str, Any]]:
    """Those whose name or slug contains `asked`; the first where nothing is asked."""
    names = [
        workspace
        for workspace in searched.workspaces
        if asked.lower() in f"{workspace.name} {workspace.slug}".lower()
    ]
    for workspace in names[:EACH]:
        yield result("workspace", workspace.name, "", link_to("workspace", workspace.slug))
