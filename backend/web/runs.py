"""The runs of a workspace, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.accounts.models import Workspace
from backend.ingest.models import Upload
from backend.links import link_to, query_string
from backend.runs.listing import run_count, run_page
from backend.runs.models import Host, Series, Server, Workload
from backend.runs.search import STATES, RunSearch
from backend.runs.shown import shown_rows
from backend.web import visible
from backend.web.home import curl_command

RUNS_PER_PAGE = 50
RECENT_UPLOADS = 10
MAX_NAMES = 200


@require_safe
def runs(request: HttpRequest, slug: str) -> HttpResponse:
    """The runs that match the link, newest first, and recent uploads."""
    workspace = visible.workspace_or_404(request, slug)
    given = request.GET.dict()
    after = given.pop("after", "")
    here = link_to("runs-page", slug)
    asked = RunSearch.parse(given)
    search = asked.with_current_names([workspace.pk])
    page = run_page([workspace.pk], after=after, limit=RUNS_PER_PAGE, search=search)
    chosen = search.query()
    if search != asked:
        return HttpResponseRedirect(f"{here}?{_joined(chosen, after=after)}")
    context = {
        "workspace": workspace,
        "nav": "runs",
        "runs": page.runs,
        "writable": visible.may_write(request, workspace),
        **_search_form(workspace, search),
        "clear_url": here,
        "first_url": (f"{here}?{chosen}" if chosen else here) if after else "",
        "next_url": f"{here}?{_joined(chosen, after=page.next)}" if page.next else "",
        "uploads": [] if chosen or after else _recent_uploads(workspace),
        "curl_command": curl_command(),
    }
    return render(request, "runs.html", context)


def _search_form(workspace: Workspace, search: RunSearch) -> dict[str, Any]:
    """The fields of the search form with their choices and values, and how many runs match."""
    chosen = search.query()
    total = run_count([workspace.pk], search)
    return {
        "search": search,
        "states": STATES,
        "chosen": bool(chosen),
        "total": total,
        "everything": run_count([workspace.pk]) if chosen else total,
        "choices": [
            (field, getattr(search, field), names) for field, names in _names(workspace).items()
        ],
    }


def _joined(query: str, *, after: str | None) -> str:
    return "&".join(filter(None, (query, query_string([("after", after)]) if after else "")))


def _names(workspace: Workspace) -> dict[str, list[str]]:
    """The names that each field offers. A name beyond them still works in a link."""
    series = Series.objects.filter(workspace=workspace).order_by("tool")
    hosts = shown_rows(Host, [workspace.pk])
    shown = hosts.annotate(shown=Coalesce("name", "cpu_model")).exclude(shown=None)
    servers = shown_rows(Server, [workspace.pk]).order_by("name")
    workloads = shown_rows(Workload, [workspace.pk]).order_by("name")
    return {
        "server": list(servers.values_list("name", flat=True).distinct()[:MAX_NAMES]),
        "workload": list(workloads.values_list("name", flat=True).distinct()[:MAX_NAMES]),
        "host": list(
            shown.order_by("shown").values_list("shown", flat=True).distinct()[:MAX_NAMES]
        ),
        "tool": list(series.values_list("tool", flat=True).distinct()[:MAX_NAMES]),
    }


def _recent_uploads(workspace: Workspace) -> Sequence[Upload]:
    uploads = Upload.objects.filter(workspace=workspace).order_by("-received_at")
    return list(uploads.only("id", "state", "reason", "received_at")[:RECENT_UPLOADS])
