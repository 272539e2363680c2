"""Result sets on other sites: the embedded page and oEmbed. Neither reads the session.

Only shared result sets are shown, without cookies: a framed page must not act for its viewer.
"""

from typing import Any
from uuid import UUID

from csp.decorators import csp_replace
from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from backend.accounts.workspace import access
from backend.accounts.workspace.takedowns import TakenDown
from backend.analysis.export.comparability_text import comparability_text
from backend.analysis.loading.selection import NotVisible
from backend.analysis.query.compare_query import DRAWING, QueryError
from backend.errors import Away, TooMany
from backend.links import absolute, result_set_link, route_at
from backend.problems import problem_response
from backend.sharing.drawing import HEIGHT, WIDTH, is_of_fixed_height
from backend.sharing.models import ResultSet
from backend.sharing.reading import Reading, find_result_set
from backend.sharing.text import plain
from backend.web.base.errors import frame_page, framed_message
from backend.web.base.tombstones import framed_tombstone
from backend.web.base.visible import or_404
from backend.web.results.result_set_answers import (
    FRAME_HEIGHT,
    FRAME_WIDTH,
    cacheable,
    check_fields,
    frame_html,
    guarded,
    why_no_answer,
)

LEAST_WIDTH, LEAST_HEIGHT = 240, 200
MAX_AGE_S = 300
THEMES = ("light", "dark")
TONES = {
    "comparable": "status-ok",
    "caveats": "status-warning",
    "not_comparable": "status-error",
}


@require_safe
@xframe_options_exempt
@csp_replace({"frame-ancestors": ["*"]})  # type: ignore[arg-type]  # its stub has no arguments
def embed(request: HttpRequest, link: UUID) -> HttpResponse:
    """The chart alone, for a frame on any page."""
    try:
        result_set = or_404(find_result_set(link, workspace_ids=[]))
    except TakenDown as error:
        # Here, and not where all are answered: only this answer may be framed.
        return framed_tombstone(error)
    if result_set.is_gone:
        sentence, since = result_set.end
        return guarded(
            result_set, framed_message(410, "This result set is gone", sentence, _on(since))
        )
    try:
        theme = _theme(request)
    except QueryError as error:
        title = "We don't understand this link"
        return guarded(result_set, framed_message(400, title, str(error), error.hint))
    reading = Reading(result_set, access.name_of_viewer(None, request.META))
    try:
        figures = reading.figures
    except (NotVisible, QueryError) as error:
        title = "This live result set has no results now"
        return guarded(result_set, framed_message(409, title, why_no_answer(error), ""))
    except (TooMany, Away) as error:
        return guarded(result_set, frame_page(error))
    page = render_to_string(
        "embed.html",
        {
            "result_set": result_set,
            "figures": figures,
            "figures_json": reading.plain_figures,
            "outcome": comparability_text(figures),
            "outcome_class": TONES[figures.outcome.status],
            "theme": theme,
            "page_url": absolute(result_set.path),
        },
    )
    answer = HttpResponse(page)
    return guarded(
        result_set, cacheable(request, answer, result_set, key=page.encode(), seconds=MAX_AGE_S)
    )


def _theme(request: HttpRequest) -> str:
    """The requested theme, or an empty text. Raises QueryError for an unknown field or theme."""
    check_fields(request, (*DRAWING, "theme"))
    theme = request.GET.get("theme", "")
    if theme not in ("", *THEMES):
        raise QueryError("theme", theme, ", ".join(THEMES))
    return theme


def _on(moment: Any) -> str:
    return f"Since {moment:%Y-%m-%d %H:%M} UTC."


@require_safe
def oembed(request: HttpRequest) -> HttpResponse:
    """How to embed the result set at `url`, by https://oembed.com; 404 where it is not shared."""
    form = request.GET.get("format", "json")
    if form != "json":
        detail = f"format: got {form[:40]!r}, allowed is json."
        return problem_response(501, "Unknown format", detail, hint="Ask for format=json.")
    link = _link_in(request.GET.get("url", ""))
    result_set = None if link is None else find_result_set(link, workspace_ids=[])
    if result_set is None:
        detail = "url is not the address of a shared result set here."
        hint = f"Give the full address of a result set on {settings.PUBLIC_URL}."
        return problem_response(404, "Nothing to embed", detail, hint=hint)
    if result_set.is_gone:
        sentence, since = result_set.end
        problem = problem_response(410, "Gone", sentence, hint=_on(since))
        return guarded(result_set, problem)
    answer = guarded(result_set, JsonResponse(_rich(request, result_set)))
    answer["Cache-Control"] = f"public, max-age={MAX_AGE_S}"
    return answer


def _link_in(url: str) -> UUID | None:
    """The link of a result set in an address of this service; None for any other address."""
    route = route_at(url[:2_000])
    is_result_set = route is not None and route.url_name in ("result-set-page", "embed")
    return route.kwargs["link"] if route is not None and is_result_set else None


def _rich(request: HttpRequest, result_set: ResultSet) -> dict[str, Any]:
    width = _within(request.GET.get("maxwidth"), FRAME_WIDTH, LEAST_WIDTH)
    height = _within(request.GET.get("maxheight"), FRAME_HEIGHT, LEAST_HEIGHT)
    return {
        "version": "1.0",
        "type": "rich",
        "title": plain(result_set.title, 200),
        "provider_name": "Loadsheet",
        "provider_url": settings.PUBLIC_URL,
        "cache_age": MAX_AGE_S,
        "width": width,
        "height": height,
        "html": frame_html(result_set, width, height),
        **(_thumbnail(result_set) if is_of_fixed_height(result_set) else {}),
    }


def _thumbnail(result_set: ResultSet) -> dict[str, Any]:
    return {
        "thumbnail_url": absolute(result_set_link(result_set.link, "png")),
        "thumbnail_width": WIDTH,
        "thumbnail_height": HEIGHT,
    }


def _within(asked: str | None, usual: int, least: int) -> int:
    """The requested size within bounds, else the usual size."""
    if asked is None or not (asked.isascii() and asked.isdigit()):
        return usual
    return max(least, min(int(asked[:6]), usual))
