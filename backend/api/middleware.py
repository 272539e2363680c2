"""ETag and If-None-Match for every JSON answer of the API, and how long it took.

That is in a header of its own: a browser's tools show it.
"""

import time

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response

from backend.api.protocol.preconditions import tag_of
from backend.api.urls import is_api_path
from backend.middleware import Middleware


class ConditionalGet(Middleware):
    """The tag of an answer is the hash of its bytes, so an answer without a change has none new.

    A client that asks again with it is answered 304 without a body.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not is_api_path(request.path) or not _has_tag(request, response):
            return response
        assert isinstance(response, HttpResponse)
        if "ETag" not in response.headers:
            response.headers["ETag"] = tag_of(response.content)
        answer = get_conditional_response(request, etag=response.headers["ETag"], response=response)
        return response if answer is None else answer


def _has_tag(request: HttpRequest, response: HttpResponseBase) -> bool:
    is_read = request.method in ("GET", "HEAD") and response.status_code == 200
    return is_read and isinstance(response, HttpResponse)


class ServerTiming(Middleware):
    """`Server-Timing: app;dur=12.3`: milliseconds from the request's head to the answer's."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        response = self.get_response(request)
        if is_api_path(request.path):
            elapsed_ms = (time.perf_counter() - started) * 1000
            response.headers["Server-Timing"] = f"app;dur={elapsed_ms:.1f}"
        return response
