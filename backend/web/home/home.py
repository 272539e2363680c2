"""The front page, the front of a workspace, and creating a token there."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from backend.accounts.models import Workspace
from backend.accounts.sign_in import recent_sign_in
from backend.accounts.tokens.token_making import make_agent_token
from backend.accounts.workspace import access
from backend.accounts.workspace.takedowns import takedowns_of_workspaces
from backend.analysis.loading.findings import find
from backend.analysis.loading.large_runs import hold_slot_if_workspace_large
from backend.analysis.loading.series_cache import TooManyConfigurations
from backend.analysis.pages.front_questions import list_questions
from backend.ingest.listing.listed_uploads import ListedUpload, Which
from backend.ingest.listing.listing import upload_page
from backend.library.loading import SLUG as LIBRARY
from backend.library.study import read_studies
from backend.links import compare_link, link_to
from backend.runs.catalogue.listing import LAST_MEASURED, RunRow, run_count, run_page
from backend.runs.catalogue.search import RunSearch
from backend.runs.models import Host, Run, Server, Workload
from backend.runs.registry.shown import shown_rows
from backend.runs.tables.happening import newest_first, place_of
from backend.sharing.models import ResultSet
from backend.sharing.readers import takedowns_of_result_sets
from backend.web.base import visible
from backend.web.base.first_steps import first_steps
from backend.web.home.library import result_set_paths
from backend.web.home.visitors import introduction

LATEST = 8
LATEST_RESULT_SETS = 5
FAILED_WITHIN = timedelta(days=14)
RUNS_FAILED_WITHIN, MOST_FAILED = timedelta(days=3), 5


@require_safe
def home(request: HttpRequest) -> HttpResponseBase:
    """An introduction; for a member, their workspace or a choice of workspaces."""
    workspaces = list(access.workspaces_of(visible.viewer(request)))
    if not workspaces:
        return introduction(request)
    if len(workspaces) == 1:
        return _front(request, workspaces[0])
    takedowns = takedowns_of_workspaces(workspaces)
    context = {
        "workspaces": [
            {
                "workspace": workspace,
                "runs": run_count([workspace.pk]),
                "latest": _latest(workspace),
                "takedown": takedowns.get(workspace.pk),
            }
            for workspace in workspaces
        ]
    }
    return render(request, "home.html", context)


@require_safe
def workspace_front(request: HttpRequest, slug: str) -> HttpResponse:
    """Questions, latest runs and failed uploads; the first steps while the workspace is empty."""
    return _front(request, visible.workspace_or_404(request, slug))


@require_http_methods(["GET", "HEAD", "POST"])
def make_token(request: HttpRequest, slug: str) -> HttpResponse:
    """A new agent token, shown once in the command that uses it.

    A GET, such as after signing in again, leads to the page with the form.
    """
    workspace = visible.writable_workspace_or_404(request, slug)
    if request.method != "POST":
        return HttpResponseRedirect(link_to("workspace", slug))
    recent_sign_in.require(request)
    # Before there is a token: it is shown once, on a page that may need a slot.
    hold_slot_if_workspace_large(workspace.pk, viewer=visible.viewer_name(request))
    name = request.POST.get("name", "") or "made on the page"
    clear = make_agent_token(visible.viewer_or_404(request), workspace, name)
    return _front(request, workspace, token=clear)


def _front(request: HttpRequest, workspace: Workspace, *, token: str = "") -> HttpResponse:
    latest = _latest(workspace)
    is_own = visible.is_own(request, workspace)
    context = {
        **first_steps(request, workspace, token=token),
        "nav": "front",
        "studies": _studies(request) if workspace.slug == LIBRARY else [],
        "settings_url": link_to("settings", workspace.slug)
        if visible.may_administer(request, workspace)
        else "",
        "is_own": is_own,
        "failed": _failed(workspace) if is_own else [],
    }
    if latest is not None:
        sets = visible.result_sets(request, workspace).select_related("author")
        context |= {
            "failed_runs": _failed_runs(workspace),
            "runs": run_page([workspace.pk], limit=LATEST, order=LAST_MEASURED).rows,
            "counts": _counts(workspace),
            **_questions(workspace, visible.viewer_name(request)),
            **_latest_result_sets(sets.defer("snapshot")[:LATEST_RESULT_SETS]),
        }
    return render(request, "workspace.html", context)


def _latest_result_sets(result_sets: Iterable[ResultSet]) -> dict[str, Any]:
    listed = list(result_sets)
    takedowns = takedowns_of_result_sets(listed)
    return {"result_sets": [(each, takedowns.get(each.pk)) for each in listed]}


def _studies(request: HttpRequest) -> list[dict[str, Any]]:
    paths = result_set_paths(request)
    return [{"study": study, "url": paths.get(study.name, "")} for study in read_studies()]


def _latest(workspace: Workspace) -> Run | None:
    rows = newest_first(Run.objects.filter(workspace=workspace))
    return rows.only("id", "started_at", "recorded_at").first()


def _questions(workspace: Workspace, viewer: str) -> dict[str, Any]:
    """Those that have an answer, each with its comparison, and what the others need."""
    search = partial(list_questions, workspace.pk, workspace.slug)
    try:
        questions = find(workspace, ("questions", workspace.slug), search, viewer=viewer)
    except TooManyConfigurations as refused:
        return {"questions": [], "unanswered": [], "needs": [str(refused)]}
    unanswered = [question for question in questions if question.query is None]
    return {
        "questions": [
            (question, compare_link(workspace.slug, **question.query))
            for question in questions
            if question.query is not None
        ],
        "unanswered": unanswered,
        "needs": list(dict.fromkeys(question.needs for question in unanswered)),
    }


def _counts(workspace: Workspace) -> list[tuple[str, int, str]]:
    slug = workspace.slug
    own = [workspace.pk]
    servers = shown_rows(Server, own).values("name").distinct().count()
    workloads = shown_rows(Workload, own).values("name").distinct().count()
    return [
        ("run", run_count(own), link_to("runs-page", slug)),
        ("server", servers, link_to("servers-page", slug)),
        ("host", shown_rows(Host, own).count(), link_to("hosts-page", slug)),
        ("workload", workloads, link_to("workloads-page", slug)),
    ]


def _failed_runs(workspace: Workspace) -> list[RunRow]:
    """The runs of the last days with a failed trial, without an end, or read only in part, the
    newest first."""
    since = timezone.now() - RUNS_FAILED_WITHIN
    states = ("failed", "interrupted", "partial")
    searches = (RunSearch(state=state, since=since.date()) for state in states)
    pages = (
        run_page([workspace.pk], limit=MOST_FAILED, search=search, order=LAST_MEASURED)
        for search in searches
    )
    # A run may be several of these.
    rows = {row.id: row for page in pages for row in page.rows}
    return sorted(rows.values(), key=place_of, reverse=True)[:MOST_FAILED]


def _failed(workspace: Workspace) -> Sequence[ListedUpload]:
    """The uploads of the last 14 days that could not be read."""
    since = timezone.now() - FAILED_WITHIN
    page = upload_page(workspace.pk, which=Which.FAILED, since=since, limit=LATEST_RESULT_SETS)
    return page.rows
