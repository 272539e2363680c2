"""How many requests a sender may send: counted before a view runs, and told in its answer.

Uploads, their parts and previews, heartbeats and what else agents send have limits of their own:
their views have no throttle. Nothing is counted or told while the cache is away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponseBase
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from backend.accounts import access, throttle
from backend.accounts.models import Token, User
from backend.errors import TooMany
from backend.middleware import Middleware

if TYPE_CHECKING:
    # It reads the settings that name this module.
    from rest_framework.views import APIView

WINDOW_S = 60
# Of a request, where its rate is kept for the answer.
ATTRIBUTE = "counted_rate"


class RequestRate(BaseThrottle):
    """One rate for all requests of a token, of a user, or of an address without either."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Raises TooMany."""
        rate = throttle.count_request(_sender(request))
        setattr(request._request, ATTRIBUTE, rate)
        if rate is not None and rate.wait_s:
            reason = f"More than {rate.limit} requests came within a minute."
            raise TooMany(reason, wait_s=rate.wait_s)
        return True


def _sender(request: Request) -> str:
    actor = request.auth if isinstance(request.auth, Token) else request.user
    if isinstance(actor, Token | User):
        return access.name_of_sender(actor)
    return throttle.address_of(request.META)


class RateLimitHeaders(Middleware):
    """`RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers)."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        rate = getattr(request, ATTRIBUTE, None)
        if isinstance(rate, throttle.Rate):
            policy = f'"requests";q={rate.limit};w={WINDOW_S}'
            response.headers["RateLimit-Policy"] = policy
            response.headers["RateLimit"] = f'"requests";r={rate.remaining};t={rate.reset_s}'
        return response
