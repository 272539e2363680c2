"""Browsers: those that signed in to an account before, and sessions of those without an account.

A signed cookie names the account. Strangers may type an account's name with wrong passwords. A
browser with the cookie has a counter of its own, so they cannot keep the owner out. The cookie
opens nothing: the password is still asked for. Source: "Slow Down Online Guessing Attacks with
Device Cookies", OWASP.

Each session takes a row. So a network begins so many and no more, they end after a day, and a clock
deletes those that ended.
"""

import secrets
from dataclasses import dataclass
from datetime import timedelta

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core import signing
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from backend.accounts.limits import throttle
from backend.accounts.limits.limiters import VISITS
from backend.accounts.models import User
from backend.accounts.password_backend import account_named

# The longest that browsers keep a cookie.
LIFETIME_S = 400 * 24 * 3600
# Of a shared browser, those that signed in last.
MOST_ACCOUNTS = 10
_SALT = "browser"
# On a request, the account that it proved.
_PROVED = "account_of_this_browser"
VISIT_S = 24 * 3600


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser, and the ids of the accounts that it signed in to."""

    id: str
    accounts: tuple[str, ...] = ()


def browser_of(request: HttpRequest) -> Browser | None:
    """The browser that the cookie names; None without a cookie of ours."""
    signed = request.COOKIES.get(settings.BROWSER_COOKIE_NAME, "")
    try:
        content = signing.loads(signed, salt=_SALT, max_age=LIFETIME_S)
    except signing.BadSignature:
        return None
    return Browser(content["id"], tuple(content["accounts"]))


def browser_known_to(request: HttpRequest, name: str) -> str:
    """The id of the browser, if it signed in to the account that `name` means; else empty.

    `name`: a username or an email address, as it was typed.
    """
    browser = browser_of(request)
    # PostgreSQL stores no NUL, so no account has one, and refuses to look for it.
    if browser is None or not name or "\0" in name:
        return ""
    # The account whose password is checked, and no other one that bears the name as well.
    account = account_named(name)
    return browser.id if account is not None and str(account.pk) in browser.accounts else ""


def browser_of_account(request: HttpRequest, user: User) -> str:
    """The id of the browser, if it signed in to the account of `user` before; else empty."""
    browser = browser_of(request)
    return browser.id if browser is not None and str(user.pk) in browser.accounts else ""


def prove(request: HttpRequest, user: User) -> None:
    """The person in this browser proved to be `user`: `remember` tells the browser."""
    setattr(request, _PROVED, user)


def remember(request: HttpRequest, response: HttpResponseBase) -> None:
    """Set the cookie, if somebody proved who they are with this request."""
    user = getattr(request, _PROVED, None)
    if user is None:
        return
    browser = browser_of(request) or Browser(secrets.token_urlsafe(16))
    others = [id_ for id_ in browser.accounts if id_ != str(user.pk)]
    content = {"id": browser.id, "accounts": [*others, str(user.pk)][-MOST_ACCOUNTS:]}
    response.set_cookie(
        settings.BROWSER_COOKIE_NAME,
        signing.dumps(content, salt=_SALT),
        max_age=LIFETIME_S,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


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
