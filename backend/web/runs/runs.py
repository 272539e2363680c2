"""The runs of a workspace, newest first."""

from typing import Any

from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.accounts.models import Workspace
from backend.analysis.loading.large_runs import hold_slot_of_search
from backend.links import link_to, query_string
from backend.runs.catalogue.listing import run_count, run_page
from backend.runs.catalogue.naming import distinct_names
from backend.runs.catalogue.run_order import SORTS, RunOrder
from backend.runs.catalogue.run_states import STATE_WORDS
from backend.runs.catalogue.search import RunSearch
from backend.runs.models import Host, Server, Workload
from backend.runs.registry.shown import shown_rows, shown_series
from backend.web.base import visible
from backend.web.base.first_steps import curl_command
from backend.web.uploads.uploads import open_uploads

RUNS_PER_PAGE = 50
MAX_NAMES = 200
_ARIA = {"asc": "ascending", "desc": "descending"}


@require_safe
def runs(request: HttpRequest, slug: str) -> HttpResponse:
    """The runs that match the link, newest first, and recent uploads."""
    workspace = visible.workspace_or_404(request, slug)
    given = request.GET.dict()
    after = given.pop("after", "")
    here = link_to("runs-page", slug)
    order = RunOrder.parse({name: given.pop(name, "") for name in ("sort", "direction")})
    asked = RunSearch.parse(given)
    search = asked.with_current_names([workspace.pk])
    hold_slot_of_search(search, [workspace.pk], viewer=visible.viewer_name(request))
    page = run_page([workspace.pk], after=after, limit=RUNS_PER_PAGE, search=search, order=order)
    chosen = search.query()
    if search != asked:
        return HttpResponseRedirect(_address(here, chosen, order, after=after))
    is_member = visible.is_own(request, workspace)
    context = {
        "workspace": workspace,
        "nav": "runs",
        "runs": page.rows,
        "writable": visible.may_write(request, workspace),
        **_search_form(workspace, search),
        "clear_url": here,
        "order": order,
        "heads": {sort: _head(here, chosen, order, sort) for sort in SORTS},
        "first_url": _address(here, chosen, order) if after else "",
        "next_url": _address(here, chosen, order, after=page.next) if page.next else "",
        "is_member": is_member,
        "uploads": open_uploads(workspace) if is_member and not (chosen or after) else [],
        "curl_command": curl_command(),
    }
    return render(request, "runs.html", context)


def _search_form(workspace: Workspace, search: RunSearch) -> dict[str, Any]:
    """The fields of the search form with their choices and values, and how many runs match."""
    chosen = search.query()
    total = run_count([workspace.pk], search)
    return {
        "search": search,
        "states": STATE_WORDS.items(),
        "chosen": bool(chosen),
        "total": total,
        "everything": run_count([workspace.pk]) if chosen else total,
        "choices": [
            (field, getattr(search, field), names) for field, names in _names(workspace).items()
        ],
    }


def _address(here: str, chosen: str, order: RunOrder, *, after: str | None = None) -> str:
    """The list with this search and order, from the cursor on."""
    paging = {**order.query(), **({"after": after} if after else {})}
    query = "&".join(filter(None, (chosen, query_string(paging.items()))))
    return f"{here}?{query}" if query else here


def _head(here: str, chosen: str, order: RunOrder, sort: str) -> dict[str, str]:
    """The link of a column's head, which turns the order round where the list has it already."""
    is_current = sort == order.sort
    turned = "asc" if is_current and order.direction == "desc" else "desc"
    return {
        "url": _address(here, chosen, RunOrder(sort, turned)),
        "direction": _ARIA[order.direction] if is_current else "",
    }


def _names(workspace: Workspace) -> dict[str, list[str]]:
    """The names that each field offers. A name beyond them still works in a link."""
    series = shown_series([workspace.pk]).order_by("tool")
    hosts = shown_rows(Host, [workspace.pk])
    shown = hosts.annotate(shown=Coalesce("name", "cpu_model")).exclude(shown=None)
    servers = distinct_names(shown_rows(Server, [workspace.pk]))
    workloads = distinct_names(shown_rows(Workload, [workspace.pk]))
    return {
        "server": list(servers[:MAX_NAMES]),
        "workload": list(workloads[:MAX_NAMES]),
        "host": list(distinct_names(shown, "shown")[:MAX_NAMES]),
        "tool": list(series.values_list("tool", flat=True).distinct()[:MAX_NAMES]),
    }
