"""Errors outside the views: problem+json under /api/, a page everywhere else."""

import sys
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from backend.api.protocol import errors as api
from backend.api.urls import is_api_path
from backend.errors import LoadsheetError
from backend.problems import Answer, answer_to, problem_response
from backend.web.base import errors as web


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    answer = api.bad_request if is_api_path(request.path) else web.bad_request
    return answer(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    answer = api.permission_denied if is_api_path(request.path) else web.permission_denied
    return answer(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    answer = api.not_found if is_api_path(request.path) else web.not_found
    return answer(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """What no view foresaw: a service of ours that is away or busy (503, 507), another request that
    came first (409), or a fault of ours (500).
    """
    outage = answer_to(sys.exc_info()[1])
    if outage is None or not outage.is_for_the_log:
        return api.server_error(request) if is_api_path(request.path) else web.server_error(request)
    return outage_answer(request, outage)


def outage_answer(request: HttpRequest, outage: Answer) -> HttpResponse:
    """Says what is away or was changed, and when to try again."""
    is_api = is_api_path(request.path)
    answer: Callable[..., HttpResponse] = problem_response if is_api else web.plain_message
    hint = outage.hint if is_api else outage.page_hint
    response = answer(outage.status, outage.title, outage.sentence, hint=hint)
    if outage.retry_after_s is not None:
        response["Retry-After"] = str(outage.retry_after_s)
    return response


def answer_before_view(request: HttpRequest, error: Exception) -> HttpResponse:
    """The answer to an error that ends a request before its view. Raises an error without one."""
    answer = answer_to(error)
    if answer is not None and answer.is_for_the_log:
        return outage_answer(request, answer)
    response = None
    if isinstance(error, LoadsheetError):
        is_api = is_api_path(request.path)
        response = api.problem_handler(error, {}) if is_api else web.error_page(request, error)
    if response is None:
        raise error
    return response
