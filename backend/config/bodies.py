"""Requests that are refused by their first lines, before anything of the body is read."""

from enum import StrEnum
from urllib.parse import unquote_to_bytes

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_GET

from backend.accounts import tokens
from backend.accounts.models import BEARER_KINDS
from backend.api import errors as api
from backend.api.auth import clear_text
from backend.api.errors import Problem
from backend.config.errors import outage_answer
from backend.ingest.limits import (
    ANONYMOUS_BYTES,
    HEADER_FIELD_BYTES,
    LARGE_BODIES,
    LEAST_BYTES_PER_S,
    largest_request,
)
from backend.middleware import Middleware
from backend.problems import DATABASE_AWAY, STORAGE_FULL
from backend.web.errors import message

# In the WSGI environment: why the body was left unread, or None.
REFUSAL_KEY = "loadsheet.body_refusal"
# The path of `may_send`, and the field of its answer that names who sends and who pays.
MAY_SEND = b"/internal/may-send"
SENDER = b"X-Sender"
BOUNDED_FIELDS = {"HTTP_ACCEPT": "Accept", "CONTENT_TYPE": "Content-Type"}
LENGTH_HINT = "Send Content-Length; a body in chunks is not accepted."
WAIT_S = 10


class Refusal(StrEnum):
    """Why the web server reads no more of a body."""

    # By the header alone the view, or LimitBodies, refuses the request.
    HEADER = "header"
    # The credentials could not be looked up.
    AWAY = "away"
    # The sender has as many bodies, or bytes of them, on their way as it may.
    SHARE = "share"
    SLOW = "slow"
    # No room for a temporary file.
    FULL = "full"
    # Larger than a request without credentials may be, or than any.
    ANONYMOUS = "anonymous"
    LARGE = "large"
    # The request is not for a path of this service.
    ADDRESS = "address"


OUTAGES = {Refusal.AWAY: DATABASE_AWAY, Refusal.FULL: STORAGE_FULL}
# Status, title, sentence and what to do.
WORDS = {
    Refusal.ADDRESS: (
        400,
        "Bad address",
        "The address of the request does not begin with a slash.",
        "Send the path alone.",
    ),
    Refusal.SLOW: (
        408,
        "Too slow",
        f"The body came slower than {LEAST_BYTES_PER_S:,} bytes a second.",
        "Send it again, over a faster connection or in smaller requests.",
    ),
    Refusal.SHARE: (
        429,
        "Too many requests",
        f"As many large requests as you may send at the same time, at most {LARGE_BODIES}, are on "
        "their way.",
        "Wait until one of them has ended, and send this one again.",
    ),
}


@require_GET
def may_send(request: HttpRequest) -> HttpResponse:
    """204 if a large body of this sender is read, else 401; the web server and the proxy ask."""
    names = _names_of_sender(request)
    if not names:
        return HttpResponse(status=401)
    return HttpResponse(status=204, headers={SENDER.decode(): names})


def _names_of_sender(request: HttpRequest) -> str:
    """The token and its workspace, or twice the user; empty without valid credentials."""
    if authorization := request.META.get("HTTP_AUTHORIZATION", ""):
        try:
            token = tokens.find(clear_text(authorization.encode("latin-1")), *BEARER_KINDS)
        except (Problem, tokens.TokenRefused):
            return ""
        return f"token-{token.pk} workspace-{token.workspace_id}"
    if request.user.is_authenticated:
        return f"user-{request.user.pk} user-{request.user.pk}"
    return ""


class LimitHeaders(Middleware):
    """Refuses header fields that would take long to read, before anything reads them."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        for key, name in BOUNDED_FIELDS.items():
            if (length := len(request.META.get(key, ""))) > HEADER_FIELD_BYTES:
                sentence = (
                    f"The header {name} has {length:,} bytes; at most {HEADER_FIELD_BYTES:,} are "
                    "accepted."
                )
                return _refusal(request, 400, "Bad request", sentence, "Shorten it.")
        if "\\" in (cookies := request.META.get("HTTP_COOKIE", "")):
            # Before Python 3.11.10, a cookie of 60 KB of them takes 7 s to read; we set none.
            kept = (cookie for cookie in cookies.split(";") if "\\" not in cookie)
            request.META["HTTP_COOKIE"] = ";".join(kept)
        return self.get_response(request)


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
    refusal = request.META.get(REFUSAL_KEY)
    if refusal in OUTAGES:
        return outage_answer(request, OUTAGES[refusal])
    if refusal in (Refusal.ANONYMOUS, Refusal.LARGE):
        limit = ANONYMOUS_BYTES if refusal == Refusal.ANONYMOUS else largest_request()
        return _too_large(request, f"more than {limit}", limit)
    if refusal not in WORDS:
        return None
    response = _refusal(request, *WORDS[refusal])
    if refusal == Refusal.SHARE:
        response["Retry-After"] = str(WAIT_S)
    return response


def _length(request: HttpRequest) -> int | None:
    """The bytes of the body; None if the request does not say so."""
    given = request.META.get("CONTENT_LENGTH") or ""
    if given.isdecimal():
        return int(given)
    return None if "HTTP_TRANSFER_ENCODING" in request.META else 0


def _limit_of(request: HttpRequest) -> int:
    if request.path.startswith("/api/") or request.user.is_authenticated:
        return largest_request()
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
