"""The servers, hosts and workloads of a workspace: a list and a page of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.accounts.models import Workspace
from backend.analysis.loading.series_cache import load_host
from backend.runs import catalogue
from backend.runs.catalogue import Tally
from backend.runs.listing import run_page
from backend.runs.models import FormerName, Host, Run, Server, Workload
from backend.runs.renaming import MAX_NAME, former_names
from backend.runs.search import RunSearch
from backend.web import visible
from backend.web.home import curl_command
from backend.web.host_facts import shown_facts
from backend.web.links import compare_url

PER_PAGE = 50
LATEST_RUNS = 10
SLOTS = 8


@require_safe
def servers(request: HttpRequest, slug: str) -> HttpResponse:
    """Every server that was measured, one line for all versions of a name."""
    workspace = visible.workspace_or_404(request, slug)
    page = catalogue.server_page([workspace.pk], after=_after(request), limit=PER_PAGE)
    rows = [
        {
            "url": f"/w/{slug}/servers/{listed.id}",
            "name": listed.name,
            "slot": listed.row.slot % SLOTS,
            "versions": _texts(row.version for row in listed.others),
            "runtimes": _texts(row.runtime for row in listed.others),
            "configurations": len({str(row.configuration) for row in listed.others}),
            "tally": listed.tally,
            "compare_url": compare_url(slug, server=listed.name),
        }
        for listed in page.rows
    ]
    return _list(request, "servers.html", workspace, page, rows)


@require_safe
def server(request: HttpRequest, slug: str, server_id: UUID) -> HttpResponse:
    """A server with its versions and configurations, where it was measured and its latest runs."""
    workspace = visible.workspace_or_404(request, slug)
    found = Server.objects.filter(pk=server_id, workspace=workspace).first()
    if found is None:
        raise Http404
    same = list(
        Server.objects.filter(workspace=workspace, name=found.name).order_by("-created_at", "pk")[
            : catalogue.MAX_RELATED
        ]
    )
    own = Q(workspace=workspace, series__server__in=[row.pk for row in same])
    tallies = catalogue.tally_by(own, "series__server")
    variants = [
        {
            "row": row,
            "configuration": sorted(row.configuration.items()),
            "tally": tallies.get(row.pk, Tally()),
            "is_this": row.pk == found.pk,
            "compare_url": compare_url(slug, server=found.name, version=row.version or "unknown"),
        }
        for row in same
    ]
    versions = {row.version for row in same}
    context = {
        "workspace": workspace,
        "nav": "servers",
        "server": found,
        "slot": found.slot % SLOTS,
        "variants": variants,
        **_names(request, workspace, FormerName.Kind.SERVER, found),
        "places": _places(slug, own, server=found.name),
        "compare_url": compare_url(slug, server=found.name),
        "versions_url": compare_url(slug, server=found.name, series="version")
        if len(versions) > 1
        else "",
        **_runs(workspace, server=found.name),
    }
    return render(request, "server.html", context)


@require_safe
def hosts(request: HttpRequest, slug: str) -> HttpResponse:
    """Every machine that took part, with what is known of it."""
    workspace = visible.workspace_or_404(request, slug)
    page = catalogue.host_page([workspace.pk], after=_after(request), limit=PER_PAGE)
    rows = [
        {
            "url": f"/w/{slug}/hosts/{listed.id}",
            "name": listed.name,
            "row": listed.row,
            "tally": listed.tally,
            "compare_url": compare_url(slug, host=_host_value(listed.row)),
        }
        for listed in page.rows
    ]
    return _list(request, "hosts.html", workspace, page, rows)


@require_safe
def host(request: HttpRequest, slug: str, host_id: UUID) -> HttpResponse:
    """A machine: its facts, what was measured on it and its latest runs."""
    workspace = visible.workspace_or_404(request, slug)
    found = Host.objects.filter(pk=host_id, workspace=workspace).first()
    if found is None:
        raise Http404
    took_part = Run.objects.filter(Q(server_host=found) | Q(client_host=found))
    latest = took_part.order_by("-recorded_at").only("facts", "server_host_id").first()
    more = _recorded_facts(latest, found)
    own = Q(workspace=workspace, run__server_host=found)
    context = {
        "workspace": workspace,
        "nav": "hosts",
        "host": found,
        **_names(request, workspace, FormerName.Kind.HOST, found),
        "more_facts": more,
        "as_server": took_part.filter(server_host=found).count(),
        "as_client": took_part.filter(client_host=found).count(),
        "measured": _measured(slug, own, host=_host_value(found)),
        "compare_url": compare_url(slug, host=_host_value(found)),
        **_runs(workspace, host=str(found.pk)),
    }
    return render(request, "host.html", context)


@require_safe
def workloads(request: HttpRequest, slug: str) -> HttpResponse:
    """Every workload: what is asked, and how often."""
    workspace = visible.workspace_or_404(request, slug)
    page = catalogue.workload_page([workspace.pk], after=_after(request), limit=PER_PAGE)
    rows = [
        {
            "url": f"/w/{slug}/workloads/{listed.id}",
            "name": listed.name,
            "row": listed.row,
            "others": len(listed.others) - 1,
            "tally": listed.tally,
            "compare_url": compare_url(slug, workload=listed.name),
        }
        for listed in page.rows
    ]
    return _list(request, "workloads.html", workspace, page, rows)


@require_safe
def workload(request: HttpRequest, slug: str, workload_id: UUID) -> HttpResponse:
    """What a workload asks for, and who was measured with it."""
    workspace = visible.workspace_or_404(request, slug)
    found = Workload.objects.filter(pk=workload_id, workspace=workspace).first()
    if found is None:
        raise Http404
    same = Workload.objects.filter(workspace=workspace, name=found.name)
    others = same.exclude(pk=found.pk).order_by("-created_at", "pk")[: catalogue.MAX_RELATED]
    own = Q(workspace=workspace, series__workload=found)
    context = {
        "workspace": workspace,
        "nav": "workloads",
        "workload": found,
        **_names(request, workspace, FormerName.Kind.WORKLOAD, found),
        "headers": sorted(found.headers.items()),
        "others": list(others),
        "measured": _measured(slug, own, workload=found.name),
        "compare_url": compare_url(slug, workload=found.name),
        **_runs(workspace, workload=found.name),
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
        "next_url": f"{here}?{urlencode({'after': page.next})}" if page.next else "",
        "first_url": here if _after(request) else "",
        "writable": visible.may_write(request, workspace),
        "curl_command": curl_command(),
    }
    return render(request, template, context)


def _after(request: HttpRequest) -> str:
    return request.GET.get("after", "").replace("\0", "")[:200]


def _texts(values: Any) -> list[str]:
    return sorted({value for value in values if value}, reverse=True)


def _host_value(found: Host) -> str:
    """A host in a link: its name, else the slug that stands for it."""
    fact = load_host(found)
    return fact.name or fact.slug


def _places(slug: str, own: Q, *, server: str) -> list[dict[str, Any]]:
    """Where a server was measured: host, workload and tool, the latest first."""
    found = catalogue.tally_by(own, "run__server_host", "series__workload", "series__tool")
    hosts = Host.objects.in_bulk([key[0] for key in found if key[0]])
    loads = Workload.objects.in_bulk([key[1] for key in found])
    return [
        {
            "host": hosts.get(host_id),
            "workload": loads[workload_id],
            "tool": tool,
            "tally": tally,
            "compare_url": compare_url(
                slug,
                server=server,
                workload=loads[workload_id].name,
                tool=tool,
                host=_host_value(hosts[host_id]) if host_id else "unknown",
            ),
        }
        for (host_id, workload_id, tool), tally in found.items()
    ]


def _measured(slug: str, own: Q, **fields: str) -> list[dict[str, Any]]:
    """Which servers were measured where `own` holds, the latest first."""
    found = catalogue.tally_by(own, "series__server")
    rows = Server.objects.in_bulk(list(found))
    return [
        {
            "row": rows[id_],
            "url": f"/w/{slug}/servers/{id_}",
            "slot": rows[id_].slot % SLOTS,
            "tally": tally,
            "compare_url": compare_url(slug, server=rows[id_].name, **fields),
        }
        for id_, tally in found.items()
    ]


def _names(
    request: HttpRequest, workspace: Workspace, kind: FormerName.Kind, found: Any
) -> dict[str, Any]:
    """What the thing was called before, and where it is given another name."""
    renames = found.name is not None and visible.may_write(request, workspace)
    return {
        "former_names": former_names(workspace, kind, found.name),
        "rename_url": f"{request.path}/rename" if renames else "",
        "name": found.name,
        "kind": kind,
        "max_name": MAX_NAME,
    }


def _runs(workspace: Workspace, **fields: str) -> dict[str, Any]:
    search = RunSearch(**fields)  # type: ignore[arg-type]  # all of these are texts
    page = run_page([workspace.pk], limit=LATEST_RUNS, search=search)
    url = f"/w/{workspace.slug}/runs?{search.query()}"
    return {"runs": page.runs, "runs_url": url if page.next else ""}


def _recorded_facts(run: Run | None, found: Host) -> list[tuple[str, Any]]:
    """What the latest run says of the machine beyond its identity."""
    if run is None or not isinstance(run.facts, dict):
        return []
    role = "server" if run.server_host_id == found.pk else "client"
    known = run.facts.get(role) or {}
    return shown_facts(known)
