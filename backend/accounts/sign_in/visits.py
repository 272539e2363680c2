"""Sessions of browsers without an account, and the end of sessions.

Each takes a row. So a network begins so many and no more, they end after a day, and a clock deletes
those that ended.
"""

from datetime import timedelta

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.utils import timezone

from backend.accounts.limits import throttle
from backend.accounts.limits.limiters import VISITS

VISIT_S = 24 * 3600


def begin_visit(request: HttpRequest) -> None:
    """Before a link is kept in the session. Raises TooOften where it is new and the network began
    too many.
    """
    if request.user.is_authenticated:
        return
    # The question above has looked for the session: a cookie that somebody made up has none.
    if request.session.session_key is None:
        throttle.require(VISITS, throttle.network_of(request.META))
    request.session.set_expiry(VISIT_S)


def delete_ended() -> None:
    """Delete sessions that ended, and where their browsers were."""
    now = timezone.now()
    Session.objects.filter(expire_date__lt=now).delete()
    # The row of a sign-in is written before its session is.
    old = UserSession.objects.filter(created_at__lt=now - timedelta(hours=1))
    old.exclude(session_key__in=Session.objects.values("session_key")).delete()
