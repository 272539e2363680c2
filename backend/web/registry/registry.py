"""The servers, hosts and workloads of a workspace: a list and a page for each."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.accounts.models import Workspace
from backend.analysis.loading.large_runs import hold_slot_if_workspace_large
from backend.analysis.loading.series_cache import load_host
from backend.links import compare_link, link_to, query_string
from backend.runs.amending.merging import merges_into, successor_of
from backend.runs.amending.renaming import former_names
from backend.runs.catalogue import catalogue
from backend.runs.catalogue.catalogue import Tally
from backend.runs.catalogue.listing import LAST_MEASURED, run_page
from backend.runs.catalogue.naming import distinct_names
from backend.runs.catalogue.search import RunSearch
from backend.runs.database.read_router import repeatable_read
from backend.runs.measured.host_facts import facts_of
from backend.runs.models import FormerName, Host, Run, Server, Workload
from backend.runs.registry.registry import MODELS
from backend.runs.registry.shown import shown_rows
from backend.runs.tables.happening import newest_first
from backend.runs.tables.names import MAX_NAME
from backend.web.base import visible
from backend.web.base.first_steps import curl_command
from backend.web.registry.host_facts import shown_facts
from backend.web.registry.host_noise import describe_noise, floor_texts

PER_PAGE = 50
LATEST_RUNS = 10
SLOTS = 8


@require_safe
def servers(request: HttpRequest, slug: str) -> HttpResponse:
    """Every measured server, with one line per name."""
    workspace = visible.workspace_or_404(request, slug)
    page = catalogue.server_page([workspace.pk], after=_after(request), limit=PER_PAGE)
    rows = [
        {
            "url": link_to("server-page", slug, listed.id),
            "name": listed.name,
            "slot": listed.row.slot % SLOTS,
            "versions": _texts(row.version for row in listed.others),
            "runtimes": _texts(row.runtime for row in listed.others),
            "configurations": len({str(row.configuration) for row in listed.others}),
            "tally": listed.tally,
            "compare_url": compare_link(slug, server=listed.name),
        }
        for listed in page.rows
    ]
    return _list(request, "servers.html", workspace, page, rows)


@require_safe
def server(request: HttpRequest, slug: str, server_id: UUID) -> HttpResponse:
    """A server: its versions and configurations, where it was measured, and its latest runs."""
    workspace = visible.workspace_or_404(request, slug)
    server = shown_rows(Server, [workspace.pk]).filter(pk=server_id).first()
    if server is None:
        return _lead_on(workspace, FormerName.Kind.SERVER, server_id)
    hold_slot_if_workspace_large(workspace.pk, viewer=visible.viewer_name(request))
    named = shown_rows(Server, [workspace.pk]).filter(name=server.name)
    same = catalogue.last_measured(named, [workspace.pk])
    if server not in same:
        same.append(server)
    own = Q(workspace=workspace, series__server__in=[row.pk for row in same])
    tallies = catalogue.tally_by(own, "series__server")
    variants = [
        {
            "row": row,
            "configuration": sorted(row.configuration.items()),
            "tally": tallies.get(row.pk, Tally()),
            "is_this": row.pk == server.pk,
            "compare_url": compare_link(slug, server=server.name, version=row.version or "unknown"),
        }
        for row in same
    ]
    versions = {row.version for row in same}
    context = {
        "workspace": workspace,
        "nav": "servers",
        "server": server,
        "slot": server.slot % SLOTS,
        "variants": variants,
        **_names(request, workspace, FormerName.Kind.SERVER, server),
        "places": _places(slug, own, server=server.name),
        "compare_url": compare_link(slug, server=server.name),
        "versions_url": compare_link(slug, server=server.name, series="version")
        if len(versions) > 1
        else "",
        **_runs(workspace, server=server.name),
    }
    return render(request, "server.html", context)


@require_safe
def hosts(request: HttpRequest, slug: str) -> HttpResponse:
    """Every machine that took part, with its facts."""
    workspace = visible.workspace_or_404(request, slug)
    page = catalogue.host_page([workspace.pk], after=_after(request), limit=PER_PAGE)
    floors = floor_texts(workspace, [listed.id for listed in page.rows])
    rows = [
        {
            "url": link_to("host-page", slug, listed.id),
            "name": listed.name,
            "row": listed.row,
            "floor": floors.get(listed.id),
            "tally": listed.tally,
            "compare_url": compare_link(slug, host=_host_value(listed.row)),
        }
        for listed in page.rows
    ]
    return _list(request, "hosts.html", workspace, page, rows)


@require_safe
def host(request: HttpRequest, slug: str, host_id: UUID) -> HttpResponse:
    """A machine: its facts, the servers measured on it, and its latest runs."""
    workspace = visible.workspace_or_404(request, slug)
    host = shown_rows(Host, [workspace.pk]).filter(pk=host_id).first()
    if host is None:
        return _lead_on(workspace, FormerName.Kind.HOST, host_id)
    took_part = Run.objects.filter(Q(server_host=host) | Q(client_host=host))
    latest = newest_first(took_part).only("facts", "server_host_id").first()
    more = _recorded_facts(latest, host)
    own = Q(workspace=workspace, run__server_host=host)
    context = {
        "workspace": workspace,
        "nav": "hosts",
        "host": host,
        **_names(request, workspace, FormerName.Kind.HOST, host),
        "more_facts": more,
        "noise": describe_noise(workspace, host),
        "as_server": took_part.filter(server_host=host).count(),
        "as_client": took_part.filter(client_host=host).count(),
        "measured": _measured(slug, own, host=_host_value(host)),
        "compare_url": compare_link(slug, host=_host_value(host)),
        **_runs(workspace, host=str(host.pk)),
    }
    return render(request, "host.html", context)


@require_safe
def workloads(request: HttpRequest, slug: str) -> HttpResponse:
    """Every workload, with its request and how often it was measured."""
    workspace = visible.workspace_or_404(request, slug)
    page = catalogue.workload_page([workspace.pk], after=_after(request), limit=PER_PAGE)
    rows = [
        {
            "url": link_to("workload-page", slug, listed.id),
            "name": listed.name,
            "row": listed.row,
            "others": len(listed.others) - 1,
            "tally": listed.tally,
            "compare_url": compare_link(slug, workload=listed.name),
        }
        for listed in page.rows
    ]
    return _list(request, "workloads.html", workspace, page, rows)


@require_safe
def workload(request: HttpRequest, slug: str, workload_id: UUID) -> HttpResponse:
    """A workload: its request, the servers measured with it, and its latest runs."""
    workspace = visible.workspace_or_404(request, slug)
    workload = shown_rows(Workload, [workspace.pk]).filter(pk=workload_id).first()
    if workload is None:
        return _lead_on(workspace, FormerName.Kind.WORKLOAD, workload_id)
    same = shown_rows(Workload, [workspace.pk]).filter(name=workload.name)
    others = catalogue.last_measured(same.exclude(pk=workload.pk), [workspace.pk])
    own = Q(workspace=workspace, series__workload=workload)
    context = {
        "workspace": workspace,
        "nav": "workloads",
        "workload": workload,
        **_names(request, workspace, FormerName.Kind.WORKLOAD, workload),
        "headers": sorted(workload.headers.items()),
        "others": others,
        "measured": _measured(slug, own, workload=workload.name),
        "compare_url": compare_link(slug, workload=workload.name),
        **_runs(workspace, workload=workload.name),
    }
    return render(request, "workload.html", context)


def _list(
    request: HttpRequest,
    template: str,
    workspace: Workspace,
    page: catalogue.ListPage,
    rows: Sequence[Mapping[str, Any]],
) -> HttpResponse:
    here = request.path
    context = {
        "workspace": workspace,
        "nav": template.removesuffix(".html"),
        "rows": rows,
        "total": page.total,
        "next_url": f"{here}?{query_string([('after', page.next)])}" if page.next else "",
        "first_url": here if _after(request) else "",
        "writable": visible.may_write(request, workspace),
        "curl_command": curl_command(),
    }
    return render(request, template, context)


def _after(request: HttpRequest) -> str:
    return request.GET.get("after", "").replace("\0", "")


def _texts(values: Any) -> list[str]:
    return sorted({value for value in values if value}, reverse=True)


def _host_value(host: Host) -> str:
    """How a link names a host: by its name, else by its slug."""
    fact = load_host(host)
    return fact.name or fact.slug


@repeatable_read()
def _places(slug: str, own: Q, *, server: str) -> list[dict[str, Any]]:
    """The hosts, workloads and tools a server was measured with, the latest first."""
    tallies = catalogue.tally_by(own, "run__server_host", "series__workload", "series__tool")
    hosts = Host.objects.in_bulk([key[0] for key in tallies if key[0]])
    loads = Workload.objects.in_bulk([key[1] for key in tallies])
    return [
        {
            "host": hosts.get(host_id),
            "workload": loads[workload_id],
            "tool": tool,
            "tally": tally,
            "about": f"on {hosts.get(host_id, 'an unknown host')} with {loads[workload_id]}",
            "compare_url": compare_link(
                slug,
                server=server,
                workload=loads[workload_id].name,
                tool=tool,
                host=_host_value(hosts[host_id]) if host_id else "unknown",
            ),
        }
        for (host_id, workload_id, tool), tally in tallies.items()
    ]


@repeatable_read()
def _measured(slug: str, own: Q, **fields: str) -> list[dict[str, Any]]:
    """The servers of the cells that `own` selects, the latest first."""
    tallies = catalogue.tally_by(own, "series__server")
    rows = Server.objects.in_bulk(list(tallies))
    return [
        {
            "row": rows[id_],
            "url": link_to("server-page", slug, id_),
            "slot": rows[id_].slot % SLOTS,
            "tally": tally,
            "compare_url": compare_link(slug, server=rows[id_].name, **fields),
        }
        for id_, tally in tallies.items()
    ]


def _lead_on(workspace: Workspace, kind: FormerName.Kind, id_: UUID) -> HttpResponse:
    """To the page of the row that replaced this one in a merge; Http404 if there is none."""
    successor = visible.or_404(successor_of(workspace, kind, id_))
    return HttpResponseRedirect(link_to(f"{kind}-page", workspace.slug, successor))


def _names(
    request: HttpRequest, workspace: Workspace, kind: FormerName.Kind, row: Any
) -> dict[str, Any]:
    """Former names and merges, and the addresses of the forms that rename and merge."""
    renames = row.name is not None and visible.may_write(request, workspace)
    shown = shown_rows(MODELS[kind], [workspace.pk]).exclude(name=None).exclude(name=row.name)
    others = distinct_names(shown)
    return {
        "former_names": former_names(workspace, kind, row.name),
        "merges": merges_into(workspace, kind, row.name) if row.name else [],
        "rename_url": link_to(f"rename-{kind}", workspace.slug, row.pk) if renames else "",
        "merge_url": link_to(f"merge-{kind}", workspace.slug, row.pk) if renames else "",
        "other_names": list(others[: catalogue.MAX_RELATED]) if renames else [],
        "name": row.name,
        "kind": kind,
        "max_name": MAX_NAME,
    }


def _runs(workspace: Workspace, **fields: str) -> dict[str, Any]:
    search = RunSearch(**fields)  # type: ignore[arg-type]  # all of these are texts
    page = run_page([workspace.pk], limit=LATEST_RUNS, search=search, order=LAST_MEASURED)
    url = link_to("runs-page", workspace.slug, query=search.query())
    return {
        "runs": page.rows,
        "runs_url": url if page.next else "",
        "throughput_of": fields.get("server") or fields.get("workload") or "",
    }


def _recorded_facts(run: Run | None, host: Host) -> list[tuple[str, Any]]:
    """Facts of the machine in its latest run, beyond its identity."""
    if run is None:
        return []
    return shown_facts(facts_of(run, "server" if run.server_host_id == host.pk else "client"))
