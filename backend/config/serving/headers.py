"""Headers of every response that Django's own middleware does not set."""

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from backend.middleware import Middleware

# The pages use none of these; nor may a page that they are framed in lend them.
PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer",
        "camera",
        "display-capture",
        "geolocation",
        "gyroscope",
        "magnetometer",
        "microphone",
        "midi",
        "payment",
        "usb",
    )
)
# Shared result sets are made to be shown on other sites; each still checks who may see it.
SHOWN_ELSEWHERE = {"embed", "oembed", "result-set-png", "result-set-svg"}


class PolicyHeaders(Middleware):
    """`Permissions-Policy`, `Cross-Origin-Resource-Policy`, and `X-Robots-Tag` without INDEXING."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        match = request.resolver_match
        is_shown_elsewhere = match is not None and match.url_name in SHOWN_ELSEWHERE
        policy = "cross-origin" if is_shown_elsewhere else "same-origin"
        response.headers.setdefault("Cross-Origin-Resource-Policy", policy)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        if not settings.INDEXING:
            response.headers.setdefault("X-Robots-Tag", "noindex")
        return response
