"""How long an answer of the API took here, in its own header: a browser's tools show it."""

import time

from django.http import HttpRequest, HttpResponseBase

from backend.api.urls import is_api_path
from backend.middleware import Middleware


class ServerTiming(Middleware):
    """`Server-Timing: app;dur=12.3`: milliseconds from the request's head to the answer's."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        response = self.get_response(request)
        if is_api_path(request.path):
            elapsed_ms = (time.perf_counter() - started) * 1000
            response.headers["Server-Timing"] = f"app;dur={elapsed_ms:.1f}"
        return response
