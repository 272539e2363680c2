"""The search palette: pages, servers, hosts, workloads, runs and result sets of one workspace, or
of every workspace of the viewer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from backend.accounts import access
from backend.accounts.models import Workspace
from backend.links import link_to, run_link
from backend.runs.listing import run_page
from backend.runs.models import Host, Server, Workload
from backend.runs.search import RunSearch
from backend.runs.shown import shown_rows
from backend.web import visible
from backend.web.guide import document_titles

EACH = 6
MAX_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Searched:
    """The workspaces that are searched. Where that may be several, each result names its own."""

    workspaces: Sequence[Workspace]
    names_workspaces: bool = False

    @property
    def ids(self) -> list[UUID]:
        return [workspace.pk for workspace in self.workspaces]

    def slug_of(self, row: Any) -> str:
        """The slug of the workspace of a server, host or workload."""
        return self._workspace_of(row.workspace_id).slug

    def hint(self, workspace_id: UUID, *texts: str | None) -> str:
        """What is told of a result beside its title."""
        names = [self._workspace_of(workspace_id).name] if self.names_workspaces else []
        return " · ".join(filter(None, (*names, *texts)))

    def _workspace_of(self, workspace_id: UUID) -> Workspace:
        return next(each for each in self.workspaces if each.pk == workspace_id)


@require_safe
def search(request: HttpRequest, slug: str) -> JsonResponse:
    """{"results": [{"kind", "title", "hint", "url"}]}, pages first; all pages while q is empty."""
    workspace = visible.workspace_or_404(request, slug)
    asked = _asked(request)
    pages = [*_PAGES]
    if visible.may_write(request, workspace):
        pages.append(("Upload", "new-upload"))
    if visible.is_own(request, workspace):
        pages.append(("Tokens", "tokens-page"))
    if access.may_administer(visible.viewer(request), workspace.pk):
        pages += [("Settings", "settings"), ("Audit log", "audit")]
    links = [(title, link_to(route, slug)) for title, route in pages]
    named = _named(request, Searched([workspace]), asked)
    return _answer(asked, [*_pages([*links, ("API", link_to("api-docs"))], asked), *named])


@require_safe
def search_everywhere(request: HttpRequest) -> JsonResponse:
    """As `search`, in the workspaces of the viewer and the library, with the pages of the site."""
    asked = _asked(request)
    searched = Searched(visible.searched_workspaces(request), names_workspaces=True)
    links = [(title, link_to(route)) for title, route in _SITE_PAGES]
    if visible.viewer(request) is not None:
        links.append(("Workspaces and account", link_to("workspaces")))
    if asked:
        links += [(title, link_to("guide-page", name)) for name, title in document_titles()]
    results = [*_workspaces(searched, asked), *_pages(links, asked)]
    results += _named(request, searched, asked)
    if asked:
        url = link_to("explore", query={"q": asked})
        results.append(_result("page", f"Search “{asked}” in Explore", "what is public", url))
    return _answer(asked, results)


def _asked(request: HttpRequest) -> str:
    return " ".join(request.GET.get("q", "").replace("\0", "").split())[:MAX_LENGTH]


def _answer(asked: str, results: Sequence[dict[str, Any]]) -> JsonResponse:
    return JsonResponse({"query": asked, "results": results})


_PAGES = (
    ("Compare", "compare-page"),
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
            yield _result("page", title, "", url)


def _workspaces(searched: Searched, asked: str) -> Iterator[dict[str, Any]]:
    """Those whose name or slug contains `asked`; the first where nothing is asked."""
    names = [
        workspace
        for workspace in searched.workspaces
        if asked.lower() in f"{workspace.name} {workspace.slug}".lower()
    ]
    for workspace in names[:EACH]:
        yield _result("workspace", workspace.name, "", link_to("workspace", workspace.slug))


def _named(request: HttpRequest, searched: Searched, asked: str) -> Iterator[dict[str, Any]]:
    """Everything whose name contains `asked`; nothing where nothing is asked."""
    if not asked:
        return
    yield from _servers(searched, asked)
    yield from _hosts(searched, asked)
    yield from _workloads(searched, asked)
    yield from _runs(searched, asked)
    sets = visible.result_sets(request, *searched.workspaces).filter(title__icontains=asked)
    for result_set in sets.defer("snapshot")[:EACH]:
        hint = searched.hint(result_set.workspace_id, result_set.visibility)
        yield _result("result set", result_set.title, hint, result_set.path)


def _servers(searched: Searched, asked: str) -> Iterator[dict[str, Any]]:
    is_named = Q(name__icontains=asked) | Q(version__icontains=asked)
    rows = shown_rows(Server, searched.ids).filter(is_named)
    for server in rows.order_by("name", "-created_at")[:EACH]:
        values = ", ".join(f"{key}={value}" for key, value in sorted(server.configuration.items()))
        url = link_to("server-page", searched.slug_of(server), server.pk)
        yield _result("server", str(server), searched.hint(server.workspace_id, values), url)


def _hosts(searched: Searched, asked: str) -> Iterator[dict[str, Any]]:
    is_named = Q(name__icontains=asked) | Q(cpu_model__icontains=asked)
    rows = shown_rows(Host, searched.ids).filter(is_named)
    for host in rows.order_by("name", "pk")[:EACH]:
        hint = searched.hint(host.workspace_id, host.cpu_model, host.kernel)
        url = link_to("host-page", searched.slug_of(host), host.pk)
        yield _result("host", str(host), hint, url)


def _workloads(searched: Searched, asked: str) -> Iterator[dict[str, Any]]:
    is_named = Q(name__icontains=asked) | Q(path__icontains=asked)
    rows = shown_rows(Workload, searched.ids).filter(is_named)
    for workload in rows.order_by("name", "pk")[:EACH]:
        request_text = " ".join(filter(None, (workload.method, workload.path)))
        hint = searched.hint(workload.workspace_id, request_text)
        url = link_to("workload-page", searched.slug_of(workload), workload.pk)
        yield _result("workload", workload.name, hint, url)


def _runs(searched: Searched, asked: str) -> Iterator[dict[str, Any]]:
    ids = {workspace.slug: workspace.pk for workspace in searched.workspaces}
    for run in run_page(searched.ids, limit=EACH, search=RunSearch(q=asked)).runs:
        labels = [f"{key}: {value}" for key, value in run.labels.items()]
        hint = searched.hint(ids[run.workspace], ", ".join(run.servers[:3]), *labels)
        yield _result("run", f"Run {str(run.id)[:8]}", hint, run_link(run.id))


def _result(kind: str, title: str, hint: str, url: str) -> dict[str, Any]:
    return {"kind": kind, "title": title[:200], "hint": hint[:200], "url": url}
