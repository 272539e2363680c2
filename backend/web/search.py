"""The search palette: pages, servers, hosts, workloads, runs and result sets of a workspace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

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

EACH = 6
MAX_LENGTH = 100


@require_safe
def search(request: HttpRequest, slug: str) -> JsonResponse:
    """{"results": [{"kind", "title", "hint", "url"}]}, pages first; all pages while q is empty."""
    workspace = visible.workspace_or_404(request, slug)
    asked = " ".join(request.GET.get("q", "").replace("\0", "").split())[:MAX_LENGTH]
    pages = [*_PAGES]
    if visible.may_write(request, workspace):
        pages.append(("Upload", "new-upload"))
    if visible.is_own(request, workspace):
        pages.append(("Tokens", "tokens-page"))
    if access.may_administer(visible.viewer(request), workspace.pk):
        pages += [("Settings", "settings"), ("Audit log", "audit")]
    results = [*_pages(workspace, asked, pages), *_named(request, workspace, asked)]
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


def _pages(
    workspace: Workspace, asked: str, pages: Sequence[tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    links = [(title, link_to(route, workspace.slug)) for title, route in pages]
    for title, url in [*links, ("API", link_to("api-docs"))]:
        if asked.lower() in title.lower():
            yield _result("page", title, "", url)


def _named(request: HttpRequest, workspace: Workspace, asked: str) -> Iterator[dict[str, Any]]:
    """Everything whose name contains `asked`; nothing where nothing is asked."""
    if not asked:
        return
    yield from _servers(workspace, asked)
    yield from _hosts(workspace, asked)
    yield from _workloads(workspace, asked)
    yield from _runs(workspace, asked)
    sets = visible.result_sets(request, workspace).filter(title__icontains=asked)
    for result_set in sets.defer("snapshot")[:EACH]:
        yield _result("result set", result_set.title, result_set.visibility, result_set.path)


def _servers(workspace: Workspace, asked: str) -> Iterator[dict[str, Any]]:
    is_named = Q(name__icontains=asked) | Q(version__icontains=asked)
    rows = shown_rows(Server, [workspace.pk]).filter(is_named)
    for server in rows.order_by("name", "-created_at")[:EACH]:
        hint = ", ".join(f"{key}={value}" for key, value in sorted(server.configuration.items()))
        url = link_to("server-page", workspace.slug, server.pk)
        yield _result("server", str(server), hint, url)


def _hosts(workspace: Workspace, asked: str) -> Iterator[dict[str, Any]]:
    is_named = Q(name__icontains=asked) | Q(cpu_model__icontains=asked)
    rows = shown_rows(Host, [workspace.pk]).filter(is_named)
    for host in rows.order_by("name", "pk")[:EACH]:
        hint = " · ".join(filter(None, (host.cpu_model, host.kernel)))
        yield _result("host", str(host), hint, link_to("host-page", workspace.slug, host.pk))


def _workloads(workspace: Workspace, asked: str) -> Iterator[dict[str, Any]]:
    is_named = Q(name__icontains=asked) | Q(path__icontains=asked)
    rows = shown_rows(Workload, [workspace.pk]).filter(is_named)
    for workload in rows.order_by("name", "pk")[:EACH]:
        hint = " ".join(filter(None, (workload.method, workload.path)))
        url = link_to("workload-page", workspace.slug, workload.pk)
        yield _result("workload", workload.name, hint, url)


def _runs(workspace: Workspace, asked: str) -> Iterator[dict[str, Any]]:
    for run in run_page([workspace.pk], limit=EACH, search=RunSearch(q=asked)).runs:
        labels = [f"{key}: {value}" for key, value in run.labels.items()]
        hint = " · ".join([", ".join(run.servers[:3]), *labels])
        yield _result("run", f"Run {str(run.id)[:8]}", hint, run_link(run.id))


def _result(kind: str, title: str, hint: str, url: str) -> dict[str, Any]:
    return {"kind": kind, "title": title[:200], "hint": hint[:200], "url": url}
