"""What every response carries unless its view said otherwise."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

PRIVATE = "private, no-store"

Handler = Callable[[HttpRequest], HttpResponseBase]


class PrivateByDefault:
    """Nothing is kept by a browser or a cache between, unless a view allows it."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", PRIVATE)
        return response
