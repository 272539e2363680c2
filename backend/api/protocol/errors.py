"""Every error of the API is problem+json (RFC 9457): what was got, what was expected, what to do.

`problem_handler` is DRF's exception handler: it asks `backend.problems` for the exceptions of the
packages below. `not_found` and the others answer requests that never reached a view. All of them
write the response themselves, so an error looks the same whatever format the request asked for.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, TypeVar

from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework import exceptions

from backend.errors import LoadsheetError, NotFound
from backend.problems import (
    NOT_FOUND_HINT,
    SCHEMA_HINT,
    WAIT_HINT,
    answer_to,
    headers_of,
    problem_response,
    set_headers,
)
from backend.untrusted.limits import FILES, FORM_BYTES, FORM_FIELDS

NOT_FOUND = "Not found, or not shared with you."
ELSE_HINT = "See /api/v1/docs for what this endpoint takes."

Value = TypeVar("Value")


class Problem(LoadsheetError, exceptions.APIException):
    """An error with everything a client needs.

    `headers`: such as Retry-After. `extra` becomes further members of the JSON.
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        *,
        hint: str,
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail, hint=hint)
        self.status_code = status
        self.title = title
        self.text = detail
        self.headers = headers or {}
        self.extra = extra

    def response(self) -> HttpResponse:
        """The problem as JSON."""
        response = problem_response(
            self.status_code, self.title, self.text, hint=self.hint, **self.extra
        )
        set_headers(response, self.headers)
        return response


def problem_handler(error: Exception, context: Mapping[str, Any]) -> HttpResponse | None:
    """DRF's exception handler. None hands an error to Django, which logs it."""
    problem = _as_problem(error)
    return None if problem is None else problem.response()


def _as_problem(error: Exception) -> Problem | None:
    if isinstance(error, LoadsheetError):
        return error if isinstance(error, Problem) else _of_table(error)
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


def _of_table(error: LoadsheetError) -> Problem | None:
    answer = answer_to(error)
    if answer is None or answer.is_for_the_log:
        return None
    hint, headers, members = error.hint or answer.hint, headers_of(error, answer), error.members
    return Problem(answer.status, answer.title, str(error), hint=hint, headers=headers, **members)


def _of_form(error: Exception) -> Problem:
    if isinstance(error, RequestDataTooBig):
        sentence = f"The fields beside the files have more than {FORM_BYTES:,} bytes, the limit."
        return Problem(413, "Too large", sentence, hint=_WORDS[400][1])
    are_files = isinstance(error, TooManyFilesSent)
    limit = f"{FILES} files" if are_files else f"{FORM_FIELDS} fields"
    sentence = f"The form has more than {limit}, the limit."
    return Problem(400, "Too many files or fields", sentence, hint=_WORDS[400][1])


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
    400: ("Bad request", SCHEMA_HINT),
    403: (
        "Not allowed",
        "Send a token. With the cookies of a session, send the CSRF cookie as X-CSRFToken too.",
    ),
    404: ("Not found", NOT_FOUND_HINT),
    405: ("Method not allowed", SCHEMA_HINT),
    406: ("Not acceptable", "Ask with Accept: application/json or */*."),
    415: ("Unsupported media type", "An upload is a form: curl -F file=@ab.txt …; else send JSON."),
    429: ("Too many requests", WAIT_HINT),
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


def or_not_found(value: Value | None) -> Value:
    """The value. Raises NotFound for None, False and an empty list."""
    if not value:
        raise NotFound(NOT_FOUND)
    return value


def cut_off() -> Problem:
    return Problem(
        400,
        "Cut off",
        "The connection ended before the whole body arrived.",
        hint="Nothing was stored; send it again.",
    )


def sign_in_needed() -> Problem:
    return Problem(
        401,
        "Sign in",
        "This needs a token or a signed-in session; the request had neither.",
        hint="Send the header: Authorization: Bearer ls_api_…",
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


def server_error(request: HttpRequest) -> HttpResponse:
    return problem_response(
        500,
        "Server error",
        "The service failed on this request; it was logged.",
        hint="Try again; no part of it was stored. If it happens again, report the time and the "
        "address.",
    )
