"""How many requests a sender may send: counted before a view runs, and told in its answer.

Uploads, their parts and previews, heartbeats and what else agents send have limits of their own:
their views have no throttle. Nothing is counted or told while the cache is away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponseBase
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from backend.accounts.limits import throttle
from backend.accounts.limits.limiters import REQUESTS
from backend.accounts.models import Token, User
from backend.accounts.workspace import access
from backend.errors import Allowance
from backend.middleware import Middleware
from backend.problems import rate_limit_headers, set_headers

if TYPE_CHECKING:
    # It reads the settings that name this module.
    from rest_framework.views import APIView

# Of a request, where its rate is kept for the answer.
ATTRIBUTE = "counted_rate"


class RequestRate(BaseThrottle):
    """One rate for all requests of a token, of a user, or of an address without either."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Raises TooOften."""
        count_request(request._request, _payer(request))
        return True


def count_request(request: HttpRequest, payer: throttle.Payer) -> None:
    """Count one request, whose answer tells what is left. Raises TooOften."""
    rate = throttle.count_request(payer)
    setattr(request, ATTRIBUTE, rate)
    if rate is not None and rate.wait_s:
        raise throttle.TooOften(REQUESTS, rate.wait_s)


def _payer(request: Request) -> throttle.Payer:
    actor = request.auth if isinstance(request.auth, Token) else request.user
    if isinstance(actor, Token | User):
        return throttle.payer_of(access.name_of_sender(actor))
    return throttle.network_of(request.META)


class RateLimitHeaders(Middleware):
    """How many requests the sender may still send, in every answer to a counted request."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        rate = getattr(request, ATTRIBUTE, None)
        # A refusal names the limit that is used up.
        if isinstance(rate, throttle.Rate) and "RateLimit" not in response:
            allowance = Allowance(REQUESTS.name, rate.limit, REQUESTS.window_s)
            headers = rate_limit_headers(allowance, remaining=rate.remaining, reset_s=rate.reset_s)
            set_headers(response, headers)
        return response
