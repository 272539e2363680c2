"""What the search palette finds by name in workspaces."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import HttpRequest

from backend.accounts.models import Workspace
from backend.analysis.loading.large_runs import hold_slot_of_search
from backend.links import link_to, run_link
from backend.runs.catalogue.catalogue import last_measured
from backend.runs.catalogue.listing import run_page
from backend.runs.catalogue.naming import distinct_names, order_by_name
from backend.runs.catalogue.search import RunSearch
from backend.runs.models import Host, Server, Workload
from backend.runs.registry.shown import shown_rows
from backend.runs.tables.happening import happened_at
from backend.web.base import visible

EACH = 6


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


def find_named(request: HttpRequest, searched: Searched, asked: str) -> Iterator[dict[str, Any]]:
    """Everything whose name contains `asked`; nothing where nothing is asked."""
    if not asked:
        return
    yield from _find_servers(searched, asked)
    yield from _find_hosts(searched, asked)
    yield from _find_workloads(searched, asked)
    yield from _find_runs(request, searched, asked)
    sets = visible.result_sets(request, *searched.workspaces).filter(title__icontains=asked)
    for result_set in sets.defer("snapshot")[:EACH]:
        hint = searched.hint(result_set.workspace_id, result_set.visibility)
        yield result("result set", result_set.title, hint, result_set.path)


def _find_servers(searched: Searched, asked: str) -> Iterator[dict[str, Any]]:
    is_named = Q(name__icontains=asked) | Q(version__icontains=asked)
    rows = shown_rows(Server, searched.ids).filter(is_named)
    first = rows.filter(name__in=list(distinct_names(rows)[:EACH]))
    servers = last_measured(first, searched.ids)
    for server in sorted(servers, key=lambda row: (row.name.lower(), row.name))[:EACH]:
        values = ", ".join(f"{key}={value}" for key, value in sorted(server.configuration.items()))
        url = link_to("server-page", searched.slug_of(server), server.pk)
        yield result("server", str(server), searched.hint(server.workspace_id, values), url)


def _find_hosts(searched: Searched, asked: str) -> Iterator[dict[str, Any]]:
    is_named = Q(name__icontains=asked) | Q(cpu_model__icontains=asked)
    rows = shown_rows(Host, searched.ids).filter(is_named)
    for host in order_by_name(rows)[:EACH]:
        hint = searched.hint(host.workspace_id, host.cpu_model, host.kernel)
        url = link_to("host-page", searched.slug_of(host), host.pk)
        yield result("host", str(host), hint, url)


def _find_workloads(searched: Searched, asked: str) -> Iterator[dict[str, Any]]:
    is_named = Q(name__icontains=asked) | Q(path__icontains=asked)
    rows = shown_rows(Workload, searched.ids).filter(is_named)
    for workload in order_by_name(rows)[:EACH]:
        request_text = " ".join(filter(None, (workload.method, workload.path)))
        hint = searched.hint(workload.workspace_id, request_text)
        url = link_to("workload-page", searched.slug_of(workload), workload.pk)
        yield result("workload", workload.name, hint, url)


def _find_runs(request: HttpRequest, searched: Searched, asked: str) -> Iterator[dict[str, Any]]:
    ids = {workspace.slug: workspace.pk for workspace in searched.workspaces}
    search = RunSearch(q=asked)
    hold_slot_of_search(search, searched.ids, viewer=visible.viewer_name(request))
    for run in run_page(searched.ids, limit=EACH, search=search).rows:
        labels = [f"{key}: {value}" for key, value in run.labels.items()]
        began = f"{happened_at(run):%Y-%m-%d}"
        hint = searched.hint(ids[run.workspace], began, str(run.id)[:8], *labels)
        yield result("run", run.name, hint, run_link(run.id))


def result(kind: str, title: str, hint: str, url: str) -> dict[str, Any]:
    return {"kind": kind, "title": title[:200], "hint": hint[:200], "url": url, "group": ""}
