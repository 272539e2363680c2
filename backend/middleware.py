"""What every middleware of Loadsheet is built on."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

Handler = Callable[[HttpRequest], HttpResponseBase]


class Middleware:
    """Hands each request on; a subclass looks at it, or at its answer."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)
