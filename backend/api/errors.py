"""Every error of the API is problem+json (RFC 9457): what was got, what was expected, what to do.

`problem_handler` is DRF's exception handler; `not_found` and the others answer what never
reached a view. All of them write the response themselves, so an error looks the same whatever
format the request asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.text import slugify
from rest_framework import exceptions

from backend.ingest.limits import FORM_BYTES

CONTENT_TYPE = "application/problem+json"
CHALLENGE = 'Bearer realm="Loadsheet"'
NOT_FOUND = "Not found, or not shared with you."
ELSE_HINT = "See /api/v1/docs for what this endpoint takes."
NOT_FOUND_HINT = "Check the link, and that the token or session belongs to the right workspace."


class Problem(exceptions.APIException):
    """An error with everything a client needs; `extra` becomes further members of the JSON."""

    def __init__(self, status: int, title: str, detail: str, *, hint: str, **extra: Any) -> None:
        super().__init__(detail)
        self.status_code = status
        self.title = title
        self.text = detail
        self.hint = hint
        self.extra = extra

    def response(self) -> HttpResponse:
        return problem_response(
            self.status_code, self.title, self.text, hint=self.hint, **self.extra
        )


class TooMany(Problem):
    """A limit on how often; `wait` is in seconds."""

    def __init__(self, detail: str, wait: int) -> None:
        super().__init__(429, "Too many requests", detail, hint=_WORDS[429][1])
        self.wait = wait


def problem_response(
    status: int, title: str, detail: str, *, hint: str, **extra: Any
) -> HttpResponse:
    """One problem as a response."""
    body: dict[str, Any] = {
        "type": f"urn:loadsheet:problem:{slugify(title)}",
        "title": title,
        "status": status,
        "detail": detail,
        "hint": hint,
    }
    body.update(extra)
    response = HttpResponse(json.dumps(body), content_type=CONTENT_TYPE, status=status)
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = CHALLENGE
    return response


def problem_handler(error: Exception, context: Mapping[str, Any]) -> HttpResponse | None:
    """DRF's exception handler. None hands an unforeseen error on to Django (and `server_error`)."""
    problem = _as_problem(error)
    if problem is None:
        return None
    response = problem.response()
    wait = getattr(error, "wait", None)
    if wait is not None:
        response["Retry-After"] = str(max(1, round(wait)))
    return response


def _as_problem(error: Exception) -> Problem | None:
    if isinstance(error, Problem):
        return error
    if isinstance(error, Http404):
        return Problem(404, "Not found", NOT_FOUND, hint=NOT_FOUND_HINT)
    if isinstance(error, PermissionDenied):
        sentence = str(error) or "You may not do this."
        return Problem(403, "Not allowed", sentence, hint=_WORDS[403][1])
    if isinstance(error, RequestDataTooBig | TooManyFilesSent | TooManyFieldsSent):
        return _of_form(error)
    if isinstance(error, exceptions.APIException):
        return _of_framework(error)
    return None


def _of_form(error: Exception) -> Problem:
    if not isinstance(error, RequestDataTooBig):
        return Problem(400, "Too many files or fields", str(error), hint=_WORDS[400][1])
    sentence = f"The fields beside the files have more than {FORM_BYTES} bytes, the limit."
    return Problem(413, "Too large", sentence, hint=_WORDS[400][1])


def _of_framework(error: exceptions.APIException) -> Problem:
    if isinstance(error, exceptions.ValidationError):
        fields = list(_field_errors(error.detail))
        detail = "; ".join(f"{item['field']}: {item['detail']}" for item in fields)
        return Problem(400, "Bad request", detail, hint=_WORDS[400][1], errors=fields)
    if isinstance(error, exceptions.NotAuthenticated):
        return sign_in_needed()
    title, hint = _WORDS.get(error.status_code, (HTTPStatus(error.status_code).phrase, ELSE_HINT))
    return Problem(error.status_code, title, str(error.detail), hint=hint)


_WORDS = {
    400: ("Bad request", "See /api/v1/openapi.json for what this endpoint takes."),
    403: ("Not allowed", "A browser session must send its CSRF token; a program sends a token."),
    404: ("Not found", NOT_FOUND_HINT),
    405: ("Method not allowed", "See /api/v1/openapi.json for what this endpoint takes."),
    406: ("Not acceptable", "Ask with Accept: application/json or */*."),
    415: ("Unsupported media type", "An upload is a form: curl -F file=@ab.txt …; else send JSON."),
    429: ("Too many requests", "Wait for as long as Retry-After says, then try again."),
}


def _field_errors(detail: Any, field: str = "") -> list[dict[str, str]]:
    if isinstance(detail, Mapping):
        return [
            item
            for name, inner in detail.items()
            for item in _field_errors(inner, f"{field}.{name}" if field else str(name))
        ]
    if isinstance(detail, list):
        return [item for inner in detail for item in _field_errors(inner, field)]
    return [{"field": field or "request", "detail": str(detail)}]


def cut_off() -> Problem:
    return Problem(
        400,
        "Cut off",
        "The connection ended before the whole body came.",
        hint="Nothing was stored; send it again.",
    )


def sign_in_needed() -> Problem:
    return Problem(
        401,
        "Sign in",
        "This needs a token or a signed-in session; the request had neither.",
        hint="Send the header: Authorization: Bearer ls_agent_…",
    )


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return problem_response(
        400, "Bad request", "The request could not be understood.", hint=_WORDS[400][1]
    )


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return problem_response(403, "Not allowed", "You may not do this.", hint=_WORDS[403][1])


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """An address under /api/ that is no endpoint."""
    return problem_response(404, "Not found", NOT_FOUND, hint=NOT_FOUND_HINT)


def outage(status: int, title: str, detail: str, *, hint: str) -> HttpResponse:
    """Something the service needs is away."""
    return problem_response(status, title, detail, hint=hint)


def server_error(request: HttpRequest) -> HttpResponse:
    return problem_response(
        500,
        "Server error",
        "The service failed on this request; it was logged.",
        hint="Try again; nothing was half kept. If it stays, report the time and the address.",
    )
