"""Result sets inside other sites: the embedded page and oEmbed. Neither reads who is asking.

Only what is shared is shown, without a cookie or a session: a framed page must not act for the
person who looks at it.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from csp.decorators import csp_replace
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from backend.analysis.export.comparability_text import comparability_text
from backend.analysis.loading.selection import NotVisible
from backend.analysis.query.compare_query import DRAWING, QueryError
from backend.sharing.drawing import HEIGHT, WIDTH, is_of_fixed_height
from backend.sharing.models import ResultSet
from backend.sharing.reading import Reading, find_result_set
from backend.sharing.text import plain
from backend.web.errors import plain_message
from backend.web.shared import (
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
@csp_replace({"frame-ancestors": ["*"]})  # type: ignore[arg-type]  # it knows no arguments
def embed(request: HttpRequest, link: UUID) -> HttpResponse:
    """The chart alone, to be framed by any page."""
    found = _shared(link)
    if found.is_gone:
        sentence, since = found.end
        return guarded(found, plain_message(410, "This result set is gone", sentence, _on(since)))
    try:
        theme = _theme(request)
    except QueryError as error:
        hint = f"Correct or leave out {error.field[:80]}."
        return guarded(found, plain_message(400, "This link is not understood", str(error), hint))
    reading = Reading(found)
    try:
        figures = reading.figures
    except (NotVisible, QueryError) as error:
        title = "This live result set has no answer now"
        return guarded(found, plain_message(409, title, why_no_answer(error), ""))
    page = render_to_string(
        "embed.html",
        {
            "result_set": found,
            "figures": figures,
            "outcome": comparability_text(figures),
            "outcome_class": TONES[figures["outcome"]["status"]],
            "theme": theme,
            "page_url": f"{settings.PUBLIC_URL}{found.path}",
        },
    )
    answer = HttpResponse(page)
    return guarded(found, cacheable(request, answer, found, key=page.encode(), seconds=MAX_AGE_S))


def _theme(request: HttpRequest) -> str:
    """The asked theme, or nothing. Raises QueryError where the frame asks for what there is not."""
    check_fields(request, (*DRAWING, "theme"))
    theme = request.GET.get("theme", "")
    if theme not in ("", *THEMES):
        raise QueryError("theme", theme, ", ".join(THEMES))
    return theme


def _on(moment: Any) -> str:
    return f"Since {moment:%Y-%m-%d %H:%M} UTC."


def _shared(link: UUID) -> ResultSet:
    found = find_result_set(link, workspace_ids=[])
    if found is None:
        raise Http404
    return found


@require_safe
def oembed(request: HttpRequest) -> HttpResponse:
    """How to embed what is at `url`, as https://oembed.com says: 404 for what is not shared."""
    form = request.GET.get("format", "json")
    if form != "json":
        detail = f"format: got {form[:40]!r}, allowed is json."
        return _problem(501, "This format is not offered", detail, "Ask for format=json.")
    link = _link_in(request.GET.get("url", ""))
    found = None if link is None else find_result_set(link, workspace_ids=[])
    if found is None:
        detail = "url leads to nothing that is shared here."
        hint = f"Give the whole address of a result set: {settings.PUBLIC_URL}/s/…"
        return _problem(404, "Nothing to embed", detail, hint)
    if found.is_gone:
        sentence, since = found.end
        return guarded(found, _problem(410, "This result set is gone", sentence, _on(since)))
    answer = guarded(found, JsonResponse(_rich(request, found)))
    answer["Cache-Control"] = f"public, max-age={MAX_AGE_S}"
    return answer


def _problem(status: int, title: str, detail: str, hint: str) -> HttpResponse:
    body = {"title": title, "status": status, "detail": detail, "hint": hint}
    return JsonResponse(body, status=status, content_type="application/problem+json")


def _link_in(url: str) -> UUID | None:
    """The link in an address of this service, and of no other."""
    if not url.startswith(f"{settings.PUBLIC_URL}/"):
        return None
    path = urlsplit(url[:2_000]).path.removeprefix(urlsplit(settings.PUBLIC_URL).path)
    found = re.fullmatch(r"/(?:s|embed)/([0-9a-fA-F-]{36})", path)
    try:
        return UUID(found[1]) if found else None
    except ValueError:
        return None


def _rich(request: HttpRequest, found: ResultSet) -> dict[str, Any]:
    width = _within(request.GET.get("maxwidth"), FRAME_WIDTH, LEAST_WIDTH)
    height = _within(request.GET.get("maxheight"), FRAME_HEIGHT, LEAST_HEIGHT)
    return {
        "version": "1.0",
        "type": "rich",
        "title": plain(found.title, 200),
        "provider_name": "Loadsheet",
        "provider_url": settings.PUBLIC_URL,
        "cache_age": MAX_AGE_S,
        "width": width,
        "height": height,
        "html": frame_html(found, width, height),
        **(_thumbnail(found) if is_of_fixed_height(found) else {}),
    }


def _thumbnail(found: ResultSet) -> dict[str, Any]:
    return {
        "thumbnail_url": f"{settings.PUBLIC_URL}{found.path}.png",
        "thumbnail_width": WIDTH,
        "thumbnail_height": HEIGHT,
    }


def _within(asked: str | None, usual: int, least: int) -> int:
    """The usual size, or the smaller one that was asked for."""
    if asked is None or not (asked.isascii() and asked.isdigit()):
        return usual
    return max(least, min(int(asked[:6]), usual))
