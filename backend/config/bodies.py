"""Requests that are refused by their first lines, before anything of the body is read."""

from urllib.parse import unquote_to_bytes

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from backend.api import errors as api
from backend.config.body_gate import REFUSAL_KEY, BodyRefusal, largest_body
from backend.config.errors import outage_answer
from backend.ingest.limits import ANONYMOUS_BYTES
from backend.middleware import Middleware
from backend.problems import BODIES_BUSY, DATABASE_AWAY, STORAGE_FULL, Answer
from backend.web.errors import message

# The answers to bodies that the web server left unread. Credentials that are not valid are answered
# by the view, which reads the credentials too.
UNREAD: dict[str, Answer] = {
    BodyRefusal.AWAY: DATABASE_AWAY,
    BodyRefusal.BUSY: BODIES_BUSY,
    BodyRefusal.FULL: STORAGE_FULL,
}
LENGTH_HINT = "Send Content-Length; a body in chunks is not accepted."


class LimitBodies(Middleware):
    """Refuses large bodies, and anonymous ones above `ANONYMOUS_BYTES`.

    The views of the API ask for a token or a session before they read a body; pages do not.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if b"\0" in unquote_to_bytes(request.META.get("QUERY_STRING", "")):
            return _nul_refused(request)
        if (unread := _unread(request)) is not None:
            return unread
        length = _length(request)
        if length is None:
            sentence = "The request does not say how many bytes its body has."
            return _refusal(request, 411, "Length required", sentence, LENGTH_HINT)
        if length <= ANONYMOUS_BYTES:
            return self.get_response(request)
        limit = _limit_of(request)
        if length > limit:
            return _too_large(request, str(length), limit)
        return self.get_response(request)


def _unread(request: HttpRequest) -> HttpResponse | None:
    """The answer to a body that the web server left; None if the view answers."""
    refusal = request.META.get(REFUSAL_KEY) or ""
    if refusal in UNREAD:
        return outage_answer(request, UNREAD[refusal])
    if refusal not in (BodyRefusal.LARGE, BodyRefusal.ANONYMOUS):
        return None
    limit = largest_body() if refusal == BodyRefusal.LARGE else ANONYMOUS_BYTES
    return _too_large(request, f"more than {limit}", limit)


def _length(request: HttpRequest) -> int | None:
    """The bytes of the body; None if the request does not say so."""
    given = request.META.get("CONTENT_LENGTH") or ""
    if given.isdecimal():
        return int(given)
    return None if "HTTP_TRANSFER_ENCODING" in request.META else 0


def _limit_of(request: HttpRequest) -> int:
    if request.path.startswith("/api/") or request.user.is_authenticated:
        return largest_body()
    return ANONYMOUS_BYTES


def _too_large(request: HttpRequest, length: str, limit: int) -> HttpResponse:
    sentence = f"This request has {length} bytes; at most {limit} are accepted."
    hint = "Sign in, or send a token, before you send more."
    if limit > ANONYMOUS_BYTES:
        hint = "Compress the files with gzip or zstd, or send them as several uploads."
    return _refusal(request, 413, "Too large", sentence, hint)


def _refusal(
    request: HttpRequest, status: int, title: str, sentence: str, hint: str, **extra: object
) -> HttpResponse:
    if request.path.startswith("/api/"):
        return api.problem_response(status, title, sentence, hint=hint, **extra)
    return message(request, status, title=title, sentence=sentence, hint=hint)


def _nul_refused(request: HttpRequest) -> HttpResponse:
    field = next((name for name, texts in request.GET.lists() if "\0" in "".join(texts)), "")
    sentence = f"The parameter {field} has a NUL character (%00), expected none."
    extra = {"field": field, "allowed": ["text without NUL"]}
    return _refusal(request, 400, "Bad query", sentence, "Take it out.", **extra)
