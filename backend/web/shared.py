"""What every answer about a result set has in common: who may keep it, and what stays of it."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Sequence

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.cache import get_conditional_response

from backend.analysis.loading.validation import UnknownValue
from backend.analysis.query.compare_query import DRAWING, CompareQuery, QueryError, UnknownField
from backend.analysis.query.timestamps import instant
from backend.sharing.drawing import BusyDrawing, CannotDraw
from backend.sharing.models import ResultSet, State, Visibility
from backend.sharing.text import plain
from backend.web import visible
from backend.web.errors import message

# What other sites add to the links they pass on, to count who came from them: no reader asked it.
_COUNTED = re.compile(r"utm_[a-z_]+|[a-z]*clk?id|mc_[ce]id")


def check_fields(request: HttpRequest, fields: Sequence[str]) -> None:
    """Raises QueryError for a field that is none of `fields`, and for a value without a meaning."""
    for name in request.GET:
        if name not in fields and not _COUNTED.fullmatch(name):
            raise UnknownField(name, fields)
    CompareQuery.parse({name: request.GET.getlist(name) for name in DRAWING})


def not_taken(request: HttpRequest, error: QueryError) -> HttpResponse:
    """An address with a field that it does not take: which, what was got, what is allowed."""
    title, hint = "This link is not understood", f"Correct or leave out {error.field[:80]}."
    if request.path.endswith(".json"):
        body = {"title": title, "status": 400, "detail": str(error), "hint": hint}
        return JsonResponse(body, status=400, content_type="application/problem+json")
    return message(request, 400, title=title, sentence=str(error), hint=hint)


def guarded(found: ResultSet, answer: HttpResponse) -> HttpResponse:
    """Unlisted links are kept out of indexes and of other sites' logs; shared data may be read
    by any page, for it is sent without asking who reads."""
    if found.visibility == Visibility.UNLISTED:
        answer["X-Robots-Tag"] = "noindex"
        answer["Referrer-Policy"] = "no-referrer"
    if found.is_shared and not answer.get("Content-Type", "").startswith("text/html"):
        answer["Access-Control-Allow-Origin"] = "*"
    return answer


def cacheable(
    request: HttpRequest, answer: HttpResponse, found: ResultSet, *, key: bytes, seconds: int = 0
) -> HttpResponse:
    """With an ETag over `key`. What is shared may be kept for some seconds, else a cache must ask:
    the bytes of a frozen one never change, but who may read them does."""
    etag = f'"{hashlib.sha256(key).hexdigest()}"'
    answer["ETag"] = etag
    if found.expires_at is not None:
        left = math.ceil((found.expires_at - timezone.now()).total_seconds())
        seconds = max(0, min(seconds, left))
    if found.visibility == Visibility.PUBLIC or (found.is_shared and seconds):
        answer["Cache-Control"] = f"public, max-age={seconds}" if seconds else "no-cache"
    kept = get_conditional_response(request, etag, None, answer)
    return kept if isinstance(kept, HttpResponse) else answer


def image(request: HttpRequest, draw: Callable[[], bytes]) -> HttpResponse:
    """The PNG that is drawn, or 503 with what is missing."""
    try:
        return HttpResponse(draw(), content_type="image/png")
    except BusyDrawing:
        answer = _no_image(request, "Another image is being drawn.", "Ask again in some seconds.")
        answer["Retry-After"] = "2"
        return answer
    except CannotDraw as error:
        return _no_image(
            request, str(error), "The page, its JSON and its CSV hold the same figures."
        )


def _no_image(request: HttpRequest, sentence: str, hint: str) -> HttpResponse:
    return message(request, 503, title="There is no image", sentence=sentence, hint=hint)


FRAME_WIDTH, FRAME_HEIGHT = 760, 480


def frame_html(found: ResultSet, width: int = FRAME_WIDTH, height: int = FRAME_HEIGHT) -> str:
    """What shows a result set in another page; sizes in CSS pixels."""
    frame = {
        "src": f"{settings.PUBLIC_URL}/embed/{found.link}",
        "width": width,
        "height": height,
        "title": plain(found.title, 200),
    }
    return render_to_string("partials/frame.html", frame).strip()


def gone(request: HttpRequest, found: ResultSet) -> HttpResponse:
    """The tombstone: why there is nothing here any more, and since when."""
    sentence, since = found.end
    title = "This result set is gone"
    if request.path.endswith(".json"):
        body = {"title": title, "status": 410, "detail": sentence, "since": instant(since)}
        body["sha256"] = found.sha256 or None
        return JsonResponse(body, status=410, content_type="application/problem+json")
    context = {
        "result_set": found,
        "title": title,
        "sentence": sentence,
        "since": since,
        # Who may give an expired one another day finds the form where the result set was.
        "can_extend": found.state == State.EXPIRED and visible.may_manage(request, found),
    }
    return render(request, "tombstone.html", context, status=410)


def no_answer(request: HttpRequest, error: Exception) -> HttpResponse:
    """A live question that cannot be answered any more: its run is gone, or its field."""
    title = "This live result set has no answer now"
    hint = "Whoever made it can save the question anew."
    said = why_no_answer(error)
    if request.path.endswith(".json"):
        body = {"title": title, "status": 409, "detail": said, "hint": hint}
        return JsonResponse(body, status=409, content_type="application/problem+json")
    return message(request, 409, title=title, sentence=said, hint=hint)


def why_no_answer(error: Exception) -> str:
    """What is missing, but nothing of what else there is: readers of a link may not know that."""
    return error.said if isinstance(error, UnknownValue) else str(error)
