"""The live comparison of a workspace."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, wraps

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.accounts.models import Workspace
from backend.accounts.workspace.workspaces import current_slug
from backend.analysis.compare.comparison import compare_as_json
from backend.analysis.grouping.series import MAX_SERIES
from backend.analysis.kept_figures import figures_of_json
from backend.analysis.loading.findings import find
from backend.analysis.loading.selection import NotVisible, resolve_query
from backend.analysis.loading.series_cache import load_catalogue
from backend.analysis.loading.validation import UnknownValue
from backend.analysis.pages.comparable_groups import ComparableGroup, group_to_open, list_groups
from backend.analysis.pages.question_check import QuestionCheck
from backend.analysis.query.compare_query import CompareQuery, QueryError
from backend.analysis.query.fields import page_fields
from backend.links import absolute, compare_link, comparison_link, link_to, query_string
from backend.runs.catalogue.listing import run_count
from backend.runs.models import Series
from backend.sharing.drawing import image_of_view
from backend.sharing.models import SavedView
from backend.sharing.readers import readers_of_runs
from backend.sharing.saved_views import default_view, views_in
from backend.web.base import visible
from backend.web.base.first_steps import first_steps

Question = tuple[Workspace, CompareQuery]


def asking(view: Callable[[HttpRequest, Question], HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorate a view of a comparison: it gets the workspace and the parsed query.

    A link with a former name of a server, host or workload redirects to the current name.
    """

    @require_safe
    @wraps(view)
    def asked(request: HttpRequest, slug: str) -> HttpResponse:
        workspace = visible.workspace_or_404(request, slug)
        parsed = CompareQuery.parse(request.GET)
        # The path names the workspace, so the query may not name another.
        named, parsed = parsed.workspace or workspace.slug, replace(parsed, workspace=None)
        if named != workspace.slug and current_slug(named) != workspace.slug:
            raise UnknownValue("workspace", named, {workspace.slug})
        load_catalogue(workspace.pk, viewer=visible.viewer_name(request))
        current = resolve_query(parsed, [workspace.pk])
        if current != parsed:
            return HttpResponseRedirect(f"{request.path}?{current.canonical()}")
        return view(request, (workspace, current))

    return asked


@asking
def compare(request: HttpRequest, question: Question) -> HttpResponse:
    """The comparison page. Its figures come from the API with the same query string.

    A workspace without runs gets the first steps instead. An address without a query leads to what
    can be compared, where everything is too much for one comparison.
    """
    workspace, parsed = question
    groups = _groups(request, workspace)
    leaves_out = len(groups) > 1 and _leaves_series_out(workspace)
    if not request.GET and leaves_out:
        return HttpResponseRedirect(compare_link(workspace.slug, **groups[0].query))
    if not run_count([workspace.pk]):
        steps = first_steps(request, workspace)
        return render(request, "compare_nothing.html", {**steps, "nav": "compare"})
    query, here = parsed.canonical(), {"workspace": workspace.slug}
    everything = query_string(here.items()) if leaves_out else ""
    asked = "&".join(filter(None, (query, query_string(here.items()))))
    writable = visible.may_write(request, workspace)
    is_member = visible.is_own(request, workspace)
    context = {
        "workspace": workspace,
        "nav": "compare",
        "query": query,
        "query_fields": page_fields(),
        "api_url": link_to("compare", query=here),
        "json_url": link_to("compare", query=asked),
        "csv_url": link_to("compare-csv", query=asked),
        "png_url": link_to("compare-png", workspace.slug, query=query),
        "share_url": link_to("share", workspace.slug) if writable else "",
        "readers_of_runs": readers_of_runs(workspace) if writable else "",
        "groups": _group_links(workspace, groups, everything),
        "everything": everything,
        "is_member": is_member,
        "views": views_in([workspace.pk]) if is_member else [],
        "save_view_url": link_to("save-view", workspace.slug) if writable else "",
    }
    return render(request, "compare.html", context)


@require_safe
def first_comparison(request: HttpRequest, slug: str) -> HttpResponse:
    """Leads to the default view, else to the largest group of servers that can be ranked.

    A default view that cannot be answered any more, such as of a deleted run, is passed over.
    """
    workspace = visible.workspace_or_404(request, slug)
    view = default_view(workspace)
    question, viewer = ("first comparison", slug, view and view.path), visible.viewer_name(request)
    search = partial(_first_path, request, workspace, view)
    return HttpResponseRedirect(find(workspace, question, search, viewer=viewer))


def _first_path(request: HttpRequest, workspace: Workspace, view: SavedView | None) -> str:
    if view is not None and _has_answer(view):
        return view.path
    groups = _groups(request, workspace)
    if len(groups) < 2:
        return compare_link(workspace.slug)
    opened = group_to_open(groups, QuestionCheck(workspace.pk, workspace.slug))
    return compare_link(workspace.slug, **opened.query)


def _has_answer(view: SavedView) -> bool:
    try:
        resolve_query(CompareQuery.parse(view.query), [view.workspace_id])
    except (QueryError, NotVisible):
        return False
    return True


def _groups(request: HttpRequest, workspace: Workspace) -> list[ComparableGroup]:
    viewer, search = visible.viewer_name(request), partial(list_groups, workspace.pk)
    return find(workspace, "comparable groups", search, viewer=viewer)


def _group_links(
    workspace: Workspace, groups: Sequence[ComparableGroup], everything: str
) -> list[tuple[str, str]]:
    """Label and address of each group, and of everything; none where all can be compared."""
    if len(groups) < 2:
        return []
    links = [(group.label, compare_link(workspace.slug, **group.query)) for group in groups]
    return [
        *links,
        ("Everything", link_to("compare-page", workspace.slug, query=everything)),
    ]


def _leaves_series_out(workspace: Workspace) -> bool:
    """Whether a comparison of everything leaves series out."""
    series = Series.objects.filter(workspace=workspace)[: MAX_SERIES + 1]
    return series.count() > MAX_SERIES


@asking
def as_png(request: HttpRequest, question: Question) -> HttpResponse:
    """The chart of the query as an image, with the link of its page in it."""
    workspace, parsed = question
    here = replace(parsed, workspace=workspace.slug)
    viewer = visible.viewer_name(request)
    kept = compare_as_json(here, workspace_ids=[workspace.pk], viewer=viewer)
    page = absolute(comparison_link(workspace.slug, parsed.canonical()))
    png = image_of_view(figures_of_json(kept), page, viewer=viewer)
    return HttpResponse(png, content_type="image/png")
