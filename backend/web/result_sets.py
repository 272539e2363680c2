"""Result sets: the list, making one, and reading one in every format it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import wraps
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from csp.constants import NONE
from csp.decorators import csp_replace
from django.conf import settings
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST, require_safe

from backend.analysis.export.comparability_text import comparability_text
from backend.analysis.loading.selection import NotVisible
from backend.analysis.query.compare_query import DRAWING, CompareQuery, QueryError
from backend.sharing import drawing
from backend.sharing.badge import NoSuchSeries, badge_of
from backend.sharing.export import csv_of
from backend.sharing.freezing import NothingToFreeze, freeze, save_live
from backend.sharing.models import Kind, ResultSet
from backend.sharing.newer_runs import MOST, newer_runs
from backend.sharing.notes import html_of
from backend.sharing.reading import Reading
from backend.sharing.text import plain
from backend.web import visible
from backend.web.compare import not_understood
from backend.web.errors import message
from backend.web.result_set_forms import BadForm, description_from
from backend.web.shared import (
    cacheable,
    check_fields,
    frame_html,
    gone,
    guarded,
    image,
    no_answer,
    not_taken,
)

PER_PAGE = 25
View = Callable[[HttpRequest, Reading], HttpResponse]


@require_safe
def result_sets(request: HttpRequest, slug: str) -> HttpResponse:
    """Those of a workspace, newest first, with what became of each."""
    workspace = visible.workspace_or_404(request, slug)
    rows = ResultSet.objects.filter(workspace=workspace).select_related("workspace", "author")
    page = Paginator(rows.defer("snapshot", "notes"), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "workspace": workspace,
        "nav": "result-sets",
        "page": page,
        "rows": [{"result_set": one, "newer": _newer(one)} for one in page],
        "compare_url": f"/w/{workspace.slug}/compare",
    }
    return render(request, "result_sets.html", context)


def _newer(result_set: ResultSet) -> str:
    """In words; nothing where nothing came or the question cannot be asked any more."""
    count = 0 if result_set.is_gone else newer_runs(result_set)
    if not count:
        return ""
    return f"{MOST} or more newer runs" if count >= MOST else _plural(count, "newer run")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


@require_POST
def share(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep a comparison under a link of its own: its figures as they are now, or its question."""
    workspace = visible.writable_workspace_or_404(request, slug)
    try:
        made = _made_of(request)(
            replace(CompareQuery.parse(request.POST.get("query", "")), workspace=slug),
            workspace=workspace,
            author=visible.viewer(request),
            description=description_from(request.POST),
        )
    except QueryError as error:
        return not_understood(request, error, f"/w/{workspace.slug}/compare")
    except (BadForm, NothingToFreeze) as refused:
        return bad_form(request, refused)
    except NotVisible:
        raise Http404 from None
    return HttpResponseRedirect(made.path)


def _made_of(request: HttpRequest) -> Callable[..., ResultSet]:
    kind = request.POST.get("kind", Kind.FROZEN.value)
    if kind not in Kind.values:
        raise BadForm(f"A result set is one of: {', '.join(Kind.values)}.")
    return freeze if kind == Kind.FROZEN else save_live


def bad_form(request: HttpRequest, refused: Exception) -> HttpResponse:
    return message(
        request,
        400,
        title="This cannot be kept",
        sentence=str(refused),
        hint="Go back, correct the form and send it again.",
    )


def readable(*fields: str) -> Callable[[View], Callable[[HttpRequest, UUID], HttpResponse]]:
    """A view of a result set that is there, and the fields that its address takes.

    What is gone leaves its tombstone at every address.
    """

    def of(view: View) -> Callable[[HttpRequest, UUID], HttpResponse]:
        @require_safe
        @wraps(view)
        def found(request: HttpRequest, link: UUID) -> HttpResponse:
            result_set = visible.result_set_or_404(request, link)
            return guarded(result_set, _answer(request, result_set, view, fields))

        return found

    return of


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
        return view(request, Reading(result_set))
    except (NotVisible, QueryError) as error:
        return no_answer(request, error)


@readable(*DRAWING)
def result_set(request: HttpRequest, reading: Reading) -> HttpResponse:
    """The page."""
    found = reading.result_set
    member = visible.is_member(request, found)
    context = {
        "workspace": found.workspace if member else None,
        "result_set": found,
        "json_url": f"{found.path}.json",
        "csv_url": f"{found.path}.csv",
        "compare_url": _compare_url(reading),
        "notes_html": html_of(found.notes),
        "newer": _newer(found),
        "newer_one": _told(found, found.superseded_by, member=member),
        "older_ones": [one for one in found.supersedes.all() if _told(found, one, member=member)],
        "is_member": member,
        "can_manage": visible.may_manage(request, found),
        "last_day": _last_day(found),
        **(_elsewhere(reading) if found.is_shared else {}),
    }
    return render(request, "result_set.html", context)


def _told(page: ResultSet, other: ResultSet | None, *, member: bool) -> ResultSet | None:
    """The other one, where the readers of this page may be told its address."""
    return other if other is not None and (member or page.may_name(other)) else None


def _compare_url(reading: Reading) -> str:
    """The same question on the page where it can be changed."""
    found = reading.result_set
    query = found.frozen_snapshot()["query"] if found.is_frozen else found.query
    return f"/w/{found.workspace.slug}/compare?{query}"


def _last_day(found: ResultSet) -> str:
    """What the form sent: the day before the moment it ends."""
    if found.expires_at is None:
        return ""
    return (found.expires_at - timedelta(microseconds=1)).date().isoformat()


def _elsewhere(reading: Reading) -> dict[str, Any]:
    """How other sites show it: the card of a pasted link, the frame and the badge."""
    found = reading.result_set
    page_url = f"{settings.PUBLIC_URL}{found.path}"
    title = plain(found.title, 60).translate(_MARKDOWN_SAFE)
    asked = urlencode({"format": "json", "url": page_url})
    return {
        "card": _card(reading),
        "page_url": page_url,
        "oembed_url": f"{settings.PUBLIC_URL}/oembed?{asked}",
        "frame_html": frame_html(found),
        "badge_markdown": f"[![{title}]({page_url}.svg)]({page_url})",
        "width": drawing.WIDTH,
        "height": drawing.HEIGHT if drawing.is_of_fixed_height(found) else None,
    }


_MARKDOWN_SAFE = str.maketrans("[]()<>!`\\", "         ")


def _card(reading: Reading) -> dict[str, str]:
    """What a site shows beside the pasted link. A live one that has no answer still has a title."""
    try:
        figures = reading.figures
    except (NotVisible, QueryError):
        return {"finding": "", "conditions": "", "outcome": ""}
    return {
        "finding": figures["finding"],
        "conditions": figures["conditions"],
        "outcome": comparability_text(figures),
    }


@readable()
def as_json(request: HttpRequest, reading: Reading) -> HttpResponse:
    """Of a frozen one the very bytes the SHA-256 is over; of a live one its figures now."""
    answer = HttpResponse(reading.json, content_type="application/json")
    return cacheable(request, answer, reading.result_set, key=reading.json)


@readable("view")
def as_csv(request: HttpRequest, reading: Reading) -> HttpResponse:
    """The figures as the table of the view that was kept, or of the asked one."""
    table = csv_of(reading.figures, request.GET.get("view"))
    answer = HttpResponse(table, content_type="text/csv; charset=utf-8")
    name = f"loadsheet-{reading.result_set.link}.csv"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@readable()
def as_png(request: HttpRequest, reading: Reading) -> HttpResponse:
    """The chart as an image, drawn now where it is not kept yet."""
    answer = image(request, lambda: drawing.image_of(reading))
    if answer.status_code != HTTPStatus.OK:
        return answer
    return cacheable(request, answer, reading.result_set, key=answer.content, seconds=300)


@csp_replace({"style-src": [NONE], "script-src": [NONE]})  # type: ignore[arg-type]
@readable("series")
def as_svg(request: HttpRequest, reading: Reading) -> HttpResponse:
    """The badge: the title and one figure. `series` chooses another than the first."""
    found = reading.result_set
    try:
        badge = badge_of(found.title, reading.figures, request.GET.get("series"))
    except NoSuchSeries as unknown:
        hint = "Correct or leave out series."
        return message(request, 400, title="No such series", sentence=str(unknown), hint=hint)
    svg = render_to_string("badge.svg", {"badge": badge}).strip().encode()
    answer = HttpResponse(svg, content_type="image/svg+xml")
    return cacheable(request, answer, found, key=svg, seconds=300)
