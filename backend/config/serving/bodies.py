"""Requests that are refused by their first lines, and who may send a large body."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import unquote_to_bytes

from django.contrib.auth import get_user
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.handlers.wsgi import WSGIRequest
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import Resolver404, resolve
from django.utils.http import parse_header_parameters

from backend.accounts.limits.addresses import sender_address
from backend.accounts.models import BEARER_KINDS
from backend.accounts.tokens import tokens
from backend.accounts.workspace import access
from backend.api.protocol.auth import clear_text
from backend.api.protocol.errors import Problem
from backend.api.urls import is_api_path
from backend.config.serving.errors import answer_before_view
from backend.middleware import Middleware
from backend.problems import problem_response
from backend.untrusted.body_refusals import BodyTooLarge
from backend.untrusted.limits import (
    HEADER_FIELD_BYTES,
    PAGE_FORM_BYTES,
    URLENCODED,
    largest_request,
)
from backend.web.base.errors import message

# In the WSGI environment: the error that stopped the web server while it read the body.
REFUSAL_KEY = "loadsheet.body_refusal"
PAGES_WITH_FILES = ("new-upload", "try")
BOUNDED_FIELDS = {"HTTP_ACCEPT": "Accept", "CONTENT_TYPE": "Content-Type"}


@dataclass(frozen=True, slots=True)
class Unread:
    """A stranger's body that is too large: a view that reads it refuses the request."""

    error: BodyTooLarge

    def read(self, *_: int) -> NoReturn:
        raise self.error

    readline = read


def largest_body(environ: Mapping[str, Any]) -> int:
    """Bytes of the largest body of this request, from who may send large ones."""
    path = environ["PATH_INFO"].encode("latin-1").decode(errors="replace")
    try:
        # As Django reads it, which takes "a/b=c; d" for a/b.
        kind, _ = parse_header_parameters(environ.get("CONTENT_TYPE", ""))
        takes_files = is_api_path(path) or resolve(path).url_name in PAGES_WITH_FILES
    except (ValueError, Resolver404):
        return PAGE_FORM_BYTES
    return largest_request() if takes_files and kind != URLENCODED else PAGE_FORM_BYTES


def sender_of(environ: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Who sends, for which workspace, and who pays: a token, its workspace and its maker; or three
    times the user.

    None for a request that may not have a large body: without valid credentials, or with a token
    that may not upload or is used from another network than its own.
    """
    close_old_connections()
    try:
        request = WSGIRequest(dict(environ))
        if authorization := request.META.get("HTTP_AUTHORIZATION", ""):
            return _of_token(request, authorization)
        SessionMiddleware(HttpResponse).process_request(request)
        user = get_user(request)
        return (f"user {user.pk}",) * 3 if user.is_authenticated else None
    finally:
        close_old_connections()


def _of_token(request: HttpRequest, authorization: str) -> tuple[str, str, str] | None:
    try:
        token = tokens.find(clear_text(authorization.encode("latin-1")), *BEARER_KINDS)
        tokens.check_address(token, sender_address(request.META))
    except (Problem, tokens.TokenRefused):
        return None
    if not access.may_upload(token):
        return None
    workspace = f"workspace {token.workspace_id}"
    person = f"user {token.user_id}" if token.user_id else workspace
    return f"token {token.pk}", workspace, person


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
    """Refuses pages whose body is unread; the API says first that a token is missing."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if b"\0" in unquote_to_bytes(request.META.get("QUERY_STRING", "")):
            return _nul_refused(request)
        if (error := request.META.get(REFUSAL_KEY)) is not None:
            return answer_before_view(request, error)
        if isinstance(unread := request.META["wsgi.input"], Unread) and not is_api_path(
            request.path
        ):
            return answer_before_view(request, unread.error)
        return self.get_response(request)


def _refusal(
    request: HttpRequest, status: int, title: str, sentence: str, hint: str, **extra: object
) -> HttpResponse:
    if is_api_path(request.path):
        return problem_response(status, title, sentence, hint=hint, **extra)
    return message(request, status, title=title, sentence=sentence, hint=hint)


def _nul_refused(request: HttpRequest) -> HttpResponse:
    field = next((name for name, texts in request.GET.lists() if "\0" in "".join(texts)), "")
    sentence = f"The parameter {field} has a NUL character (%00), expected none."
    extra = {"field": field, "allowed": ["text without NUL"]}
    return _refusal(request, 400, "Bad query", sentence, "Take it out.", **extra)
