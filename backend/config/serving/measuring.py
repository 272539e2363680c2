"""Counts each request, and gives it an id that its log lines and its answer have."""

import re
import time
import uuid

from django.http import HttpRequest, HttpResponseBase

from backend import counters, log_context
from backend.api.urls import is_api_path
from backend.middleware import Middleware

HEADER = "X-Request-Id"
# What a proxy may have given; everything else is replaced.
_GIVEN = re.compile(r"[A-Za-z0-9_.-]{8,64}")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class MeasureRequests(Middleware):
    """The outermost middleware of ours: it sees every request."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        given = request.headers.get(HEADER, "")
        request_id = given if _GIVEN.fullmatch(given) else uuid.uuid4().hex
        with log_context.bound(request_id=request_id):
            response = self.get_response(request)
        response.headers[HEADER] = request_id
        method = request.method if request.method in METHODS else "other"
        counters.count("requests", _route_of(request), str(method), str(response.status_code))
        kind = "api" if is_api_path(request.path) else "page"
        counters.observe("request_seconds", time.perf_counter() - started, kind)
        return response

    def process_view(self, request: HttpRequest, *_: object) -> None:
        """Name the workspace of the address in the log."""
        slug = request.resolver_match.kwargs.get("slug") if request.resolver_match else None
        if slug is not None and request.path.startswith("/w/"):
            log_context.add(workspace=str(slug))


def _route_of(request: HttpRequest) -> str:
    """The name of the route: few, where paths are many."""
    match = request.resolver_match
    return (match.url_name or "unnamed") if match is not None else "none"
