"""Result sets: listing, creating and reading them in every format."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import wraps
from typing import Any
from uuid import UUID

from csp.constants import NONE
from csp.decorators import csp_replace
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST, require_safe

from backend.analysis.export.comparability_text import comparability_text
from backend.analysis.loading.selection import NotVisible
from backend.analysis.loading.viewer_slots import hold_slot
from backend.analysis.query.compare_query import DRAWING, CompareQuery, QueryError
from backend.analysis.query.fields import page_fields
from backend.library.loading import find_study_of, result_set_id, today_name
from backend.links import absolute, comparison_link, link_to, result_set_link
from backend.runs.catalogue.naming import count_text
from backend.sharing import drawing
from backend.sharing.badge import NoSuchSeries, badge_of
from backend.sharing.export import csv_of
from backend.sharing.freezing import freeze, save_live
from backend.sharing.models import Kind, ResultSet
from backend.sharing.newer_runs import (
    MOST,
    corrections_since,
    find_newer_runs,
    may_tell_newer_runs,
)
from backend.sharing.readers import readers_of, readers_of_runs, takedowns_of_result_sets
from backend.sharing.reading import Reading
from backend.sharing.text import html_of, plain
from backend.web.base import visible
from backend.web.base.errors import answer_error
from backend.web.results.result_set_answers import (
    cacheable,
    check_fields,
    frame_html,
    gone,
    guarded,
    no_answer,
    not_taken,
)
from backend.web.results.result_set_forms import BadForm, description_from
from backend.web.results.study_answers import today_answers

PER_PAGE = 25
View = Callable[[HttpRequest, Reading], HttpResponse]


@require_safe
def result_sets(request: HttpRequest, slug: str) -> HttpResponse:
    """The result sets of a workspace, newest first, with their state."""
    workspace = visible.workspace_or_404(request, slug)
    rows = visible.result_sets(request, workspace).select_related("workspace", "author")
    page = Paginator(rows.defer("snapshot", "notes"), PER_PAGE).get_page(request.GET.get("page"))
    newer = _newer_texts(request, list(page))
    takedowns = takedowns_of_result_sets(page)
    context = {
        "workspace": workspace,
        "nav": "result-sets",
        "page": page,
        "rows": [
            {
                "result_set": each,
                "newer": newer.get(each.pk, ""),
                "takedown": takedowns.get(each.pk),
            }
            for each in page
        ],
        "has_authors": any(each.author for each in page),
        "has_newer": bool(newer),
        "compare_url": link_to("first-comparison", slug),
    }
    return render(request, "result_sets.html", context)


def newer_text(request: HttpRequest, result_set: ResultSet) -> str:
    """How many newer runs there are, as a text; empty for none, where the query has no answer, and
    for viewers who may not learn their number."""
    return _newer_texts(request, [result_set]).get(result_set.pk, "")


def _newer_texts(request: HttpRequest, result_sets: Sequence[ResultSet]) -> dict[UUID, str]:
    """By primary key, what `newer_text` says of those that have something to say."""
    readable = visible.workspaces(request)
    shown = [
        each
        for each in result_sets
        if not each.is_gone
        and may_tell_newer_runs(each, readable)
        # A study is as it was published: newer runs of its servers do not outdate it.
        and find_study_of(each) is None
    ]
    counts = find_newer_runs(shown, viewer=visible.viewer_name(request))
    return {pk: _newer_count(count) for pk, count in counts.items() if count}


def _newer_count(count: int) -> str:
    return f"{MOST} or more newer runs" if count >= MOST else count_text(count, "newer run")


def _corrected(result_set: ResultSet) -> str:
    """How many corrections its runs got since, as a text; empty for none."""
    count = corrections_since(result_set)
    return count_text(count, "correction") if count else ""


@require_POST
def share(request: HttpRequest, slug: str) -> HttpResponse:
    """Save a comparison under a link: its figures (frozen) or its query (live)."""
    workspace = visible.writable_workspace_or_404(request, slug)
    save = _save_function(request)
    hold_slot(visible.viewer_name(request))
    result_set = save(
        replace(CompareQuery.parse(request.POST.get("query", "")), workspace=slug),
        workspace=workspace,
        author=visible.viewer(request),
        description=description_from(request.POST),
        actor=visible.viewer(request),
    )
    return HttpResponseRedirect(result_set.path)


def _save_function(request: HttpRequest) -> Callable[..., ResultSet]:
    kind = request.POST.get("kind", Kind.FROZEN.value)
    if kind not in Kind.values:
        raise BadForm(f"A result set is one of: {', '.join(Kind.values)}.")
    return freeze if kind == Kind.FROZEN else save_live


def readable(*fields: str) -> Callable[[View], Callable[[HttpRequest, UUID], HttpResponse]]:
    """Decorate a view that reads a result set; `fields` are those that its address accepts.

    A result set that is gone shows its tombstone at every address.
    """

    def decorate(view: View) -> Callable[[HttpRequest, UUID], HttpResponse]:
        @require_safe
        @wraps(view)
        def readable_view(request: HttpRequest, link: UUID) -> HttpResponse:
            result_set = visible.result_set_or_404(request, link)
            return guarded(result_set, _answer(request, result_set, view, fields))

        return readable_view

    return decorate


def _answer(
    request: HttpRequest, result_set: ResultSet, view: View, fields: Sequence[str]
) -> HttpResponse:
    if result_set.is_gone:
        return gone(request, result_set)
    try:
        check_fields(request, fields)
    except QueryError as error:
        return not_taken(request, error)
    try:
        return view(request, Reading(result_set, visible.viewer_name(request)))
    except (NotVisible, QueryError) as error:
        return no_answer(request, error)
    except (NoSuchSeries, drawing.CannotDraw, drawing.BusyDrawing) as error:
        return answer_error(request, error)


@readable(*DRAWING)
def result_set(request: HttpRequest, reading: Reading) -> HttpResponse:
    result_set = reading.result_set
    is_member = visible.is_member(request, result_set)
    context = {
        "workspace": result_set.workspace if is_member else None,
        "result_set": result_set,
        "banner_title": _banner_title(reading),
        "query_fields": page_fields(),
        "json_url": result_set_link(result_set.link, "json"),
        "csv_url": result_set_link(result_set.link, "csv"),
        "png_url": result_set_link(result_set.link, "png"),
        "compare_url": _compare_url(reading),
        "notes_html": html_of(result_set.notes),
        **_study_answers(request, result_set),
        "newer": newer_text(request, result_set),
        "corrected": _corrected(result_set) if is_member else "",
        "successor": _if_nameable(result_set, result_set.superseded_by, is_member=is_member),
        "predecessors": [
            each
            for each in result_set.supersedes.defer("snapshot", "notes")
            if _if_nameable(result_set, each, is_member=is_member)
        ],
        "is_member": is_member,
        **(_readers(result_set) if is_member else {}),
        "can_manage": visible.may_manage(request, result_set),
        "can_feature": visible.is_operator(request) and result_set.is_frozen,
        "last_day": _last_day(result_set),
        **(_elsewhere(reading) if result_set.is_shared else {}),
    }
    return render(request, "result_set.html", context)


def _readers(result_set: ResultSet) -> dict[str, Any]:
    """Who may read it, and by which takedown others may not."""
    takedown = takedowns_of_result_sets([result_set]).get(result_set.pk)
    sentence = readers_of(result_set, readers_of_runs(result_set.workspace), takedown)
    return {"readers": sentence, "takedown": takedown}


def _study_answers(request: HttpRequest, result_set: ResultSet) -> dict[str, Any]:
    """What the page says of a study of the library before its figures."""
    study = find_study_of(result_set)
    if study is None:
        return {}
    rows = ResultSet.objects.filter(workspace=result_set.workspace).exclude(pk=result_set.pk)
    today = rows.filter(link=result_set_id(today_name(study.name))).first()
    current = _if_nameable(result_set, today, is_member=visible.is_member(request, result_set))
    return {
        "study": study,
        "study_today": today_answers(request, study),
        "study_today_url": "" if current is None or current.is_gone else current.path,
    }


def _banner_title(reading: Reading) -> str:
    """The title; empty if it repeats the finding, which is the heading below it."""
    title = reading.result_set.title or "Untitled"
    # Earlier versions called a frozen set without a title after its finding.
    is_finding = reading.result_set.is_frozen and reading.figures.finding.startswith(
        title.removesuffix(" …")
    )
    return "" if is_finding else title


def _if_nameable(page: ResultSet, other: ResultSet | None, *, is_member: bool) -> ResultSet | None:
    """The other result set, where the readers of this page may know its address."""
    return other if other is not None and (is_member or page.may_name(other)) else None


def _compare_url(reading: Reading) -> str:
    """The same query on the comparison page."""
    result_set = reading.result_set
    query = result_set.frozen_snapshot()["query"] if result_set.is_frozen else result_set.query
    return comparison_link(result_set.workspace.slug, query)


def _last_day(result_set: ResultSet) -> str:
    """The last day as the form sends it; empty if there is none."""
    if result_set.expires_at is None:
        return ""
    return (result_set.expires_at - timedelta(microseconds=1)).date().isoformat()


def _elsewhere(reading: Reading) -> dict[str, Any]:
    """What other sites use: the card of a pasted link, the frame and the badge."""
    result_set = reading.result_set
    page_url = absolute(result_set.path)
    badge_url = absolute(result_set_link(result_set.link, "svg"))
    title = plain(result_set.title, 60).translate(_MARKDOWN_SAFE)
    return {
        "card": _card(reading),
        "page_url": page_url,
        "image_url": absolute(result_set_link(result_set.link, "png")),
        "oembed_url": absolute(link_to("oembed", query={"format": "json", "url": page_url})),
        "frame_html": frame_html(result_set),
        "badge_markdown": f"[![{title}]({badge_url})]({page_url})",
        "width": drawing.WIDTH,
        "height": drawing.HEIGHT if drawing.is_of_fixed_height(result_set) else None,
    }


_MARKDOWN_SAFE = str.maketrans("[]()<>!`\\", "         ")


def _card(reading: Reading) -> dict[str, str]:
    """The texts that a site shows beside a pasted link; empty if there is no answer."""
    try:
        figures, finding = reading.figures, reading.figures.finding
    except (NotVisible, QueryError):
        return {"finding": "", "conditions": "", "description": ""}
    conditions = figures.conditions
    parts = (finding, comparability_text(figures), conditions)
    return {
        "finding": finding,
        "conditions": conditions,
        "description": " · ".join(filter(None, parts)),
    }


@readable()
def as_json(request: HttpRequest, reading: Reading) -> HttpResponse:
    """Frozen: exactly the bytes that were hashed. Live: the figures now."""
    answer = HttpResponse(reading.json, content_type="application/json")
    return cacheable(request, answer, reading.result_set, key=reading.json)


@readable("view")
def as_csv(request: HttpRequest, reading: Reading) -> HttpResponse:
    """The table of the saved view, or of the view in the query."""
    table = csv_of(reading.figures, request.GET.get("view"))
    answer = HttpResponse(table, content_type="text/csv; charset=utf-8")
    name = f"loadsheet-{reading.result_set.link}.csv"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@readable()
def as_png(request: HttpRequest, reading: Reading) -> HttpResponse:
    """The chart as an image; it is drawn if no image is stored."""
    answer = HttpResponse(drawing.image_of(reading), content_type="image/png")
    return cacheable(request, answer, reading.result_set, key=answer.content, seconds=300)


@csp_replace({"style-src": [NONE], "script-src": [NONE]})  # type: ignore[arg-type]
@readable("series")
def as_svg(request: HttpRequest, reading: Reading) -> HttpResponse:
    """The badge: the title and one figure. `series` selects the series."""
    result_set = reading.result_set
    badge = badge_of(result_set.title, reading.figures, request.GET.get("series"))
    svg = render_to_string("badge.svg", {"badge": badge}).strip().encode()
    answer = HttpResponse(svg, content_type="image/svg+xml")
    return cacheable(request, answer, result_set, key=svg, seconds=300)
