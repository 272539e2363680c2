"""What all answers about a result set share: caching, headers, errors and the tombstone."""

import hashlib
import math
import re
from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.html import escape

from backend.analysis.loading.validation import UnknownValue
from backend.analysis.query.compare_query import DRAWING, CompareQuery, QueryError, UnknownField
from backend.analysis.query.timestamps import instant
from backend.links import absolute, link_to
from backend.problems import problem_response
from backend.sharing.models import ResultSet, State, Visibility
from backend.sharing.text import plain
from backend.web.base import visible
from backend.web.base.errors import answer_error, message

# Tracking fields that other sites add to links: they are ignored.
_COUNTED = re.compile(r"utm_[a-z_]+|[a-z]*clk?id|mc_[ce]id")


def check_fields(request: HttpRequest, fields: Sequence[str]) -> None:
    """Raises QueryError for a field that is not in `fields`, and for a value without meaning."""
    for name in request.GET:
        if name not in fields and not _COUNTED.fullmatch(name):
            raise UnknownField(name, fields)
    CompareQuery.parse({name: request.GET.getlist(name) for name in DRAWING})


def not_taken(request: HttpRequest, error: QueryError) -> HttpResponse:
    """A query field that the address does not accept: which, what was sent, what is allowed."""
    if request.path.endswith(".json"):
        return problem_response(400, "Bad query", str(error), hint=error.hint)
    return answer_error(request, error)


def guarded(result_set: ResultSet, answer: HttpResponse) -> HttpResponse:
    """Keep unlisted links out of search engines, and let any site read shared data.

    The policy of the whole service, `same-origin`, keeps links out of the referrers that other
    sites get. A stricter `no-referrer` would make browsers send `Origin: null` with the forms of
    the page, and Django would refuse them.
    """
    if result_set.visibility == Visibility.UNLISTED:
        answer["X-Robots-Tag"] = "noindex"
    if not answer.get("Content-Type", "").startswith("text/html") and result_set.is_open:
        answer["Access-Control-Allow-Origin"] = "*"
    return answer


def cacheable(
    request: HttpRequest,
    answer: HttpResponse,
    result_set: ResultSet,
    *,
    key: bytes,
    seconds: int = 0,
) -> HttpResponse:
    """Add an ETag over `key`, and let caches keep a shared answer for `seconds`.

    Other caches must ask each time: the bytes of a frozen set never change, but its readers do.
    """
    etag = f'"{hashlib.sha256(key).hexdigest()}"'
    answer["ETag"] = etag
    if result_set.expires_at is not None:
        left = math.ceil((result_set.expires_at - timezone.now()).total_seconds())
        seconds = max(0, min(seconds, left))
    is_kept = seconds or result_set.visibility == Visibility.PUBLIC
    if is_kept and result_set.is_open:
        answer["Cache-Control"] = f"public, max-age={seconds}" if seconds else "no-cache"
    kept = get_conditional_response(request, etag, None, answer)
    return kept if isinstance(kept, HttpResponse) else answer


FRAME_WIDTH, FRAME_HEIGHT = 760, 480


def frame_html(result_set: ResultSet, width: int = FRAME_WIDTH, height: int = FRAME_HEIGHT) -> str:
    """The HTML that embeds a result set in another page; sizes in CSS pixels."""
    source = escape(absolute(link_to("embed", result_set.link)))
    return (
        f'<iframe src="{source}" width="{width}" height="{height}" '
        f'title="{escape(plain(result_set.title, 200))}" loading="lazy" '
        'referrerpolicy="no-referrer" style="border:0;max-width:100%"></iframe>'
    )


def gone(request: HttpRequest, result_set: ResultSet) -> HttpResponse:
    """The tombstone: why the result set is gone, and since when."""
    sentence, since = result_set.end
    title = "This result set is gone"
    if request.path.endswith(".json"):
        sha256 = result_set.sha256 or None
        return problem_response(410, "Gone", sentence, since=instant(since), sha256=sha256)
    context = {
        "result_set": result_set,
        "title": title,
        "sentence": sentence,
        "since": since,
        # Members can extend an expired result set from its tombstone.
        "can_extend": result_set.state == State.EXPIRED and visible.may_manage(request, result_set),
    }
    return render(request, "tombstone.html", context, status=410)


def no_answer(request: HttpRequest, error: Exception) -> HttpResponse:
    """A live result set whose query cannot be answered any more, such as after its run was
    deleted."""
    title = "This live result set has no results now"
    hint = "Ask its author to save the comparison again."
    reason = why_no_answer(error)
    if request.path.endswith(".json"):
        return problem_response(409, title, reason, hint=hint)
    return message(request, 409, title=title, sentence=reason, hint=hint)


def why_no_answer(error: Exception) -> str:
    """What is missing. Names nothing else of the workspace: readers of a link may not know it."""
    return error.without_choices if isinstance(error, UnknownValue) else str(error)
