"""Headers and limits that apply to every response."""

import math
import time

from allauth.mfa.signals import authentication_failed
from django.conf import settings
from django.contrib.auth.signals import user_login_failed
from django.dispatch import receiver
from django.http import (
    HttpRequest,
    HttpResponseBase,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.urls import reverse

from backend.accounts import audit, throttle
from backend.accounts.addresses import sender_address
from backend.accounts.models import User
from backend.accounts.takedowns import TakenDown
from backend.errors import LoadsheetError
from backend.middleware import Middleware
from backend.web.errors import error_page, form_only, message
from backend.web.tombstones import tombstone
from backend.web.visible import Moved, viewer

PRIVATE = "private, no-store"
# These forms do other work for an address that has an account than for one that has none.
HIDING_ACCOUNTS = ("account_reset_password", "account_signup")
# Several times as long as that work takes.
ACCOUNT_ANSWER_S = 0.5


class PrivateByDefault(Middleware):
    """Forbids caching unless the view allows it."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", PRIVATE)
        return response


class NameActor(Middleware):
    """Tells the audit log who sends a request; a token says so itself (`backend.api.auth`)."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        address = sender_address(request.META)
        origin = audit.Origin(lambda: viewer(request), str(address) if address else None)
        with audit.acting(origin):
            return self.get_response(request)


class AnswerRefusals(Middleware):
    """Answers an exception that a view raises by the page of its class in `backend.problems`, and
    the address of a form that is opened as a page by a page that says so.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and request.method in ("GET", "HEAD"):
            return form_only(response)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        """None hands the error to Django, which logs it."""
        if isinstance(error, Moved):
            return _redirect_to_slug(request, error.slug)
        if isinstance(error, TakenDown):
            return tombstone(request, error)
        if not isinstance(error, LoadsheetError):
            return None
        # Without its query the address is a page to start again from.
        is_query = request.method in ("GET", "HEAD") and request.META.get("QUERY_STRING")
        start = request.path if is_query else ""
        return error_page(request, error, start=start)


def _redirect_to_slug(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The same page of the workspace under its slug of today; a form is sent again as it is."""
    match = request.resolver_match
    assert match is not None
    # Only those from the address; the stubs do not have this attribute.
    given = match.captured_kwargs  # type: ignore[attr-defined]
    path = reverse(match.view_name, kwargs={**given, "slug": slug})
    query = request.META.get("QUERY_STRING", "")
    return HttpResponseRedirect(
        f"{path}?{query}" if query else path, preserve_request=request.method == "POST"
    )


class HideWhoHasAnAccount(Middleware):
    """Answers the forms of HIDING_ACCOUNTS after ACCOUNT_ANSWER_S, or the next multiple of it.

    So nobody can measure whether there was an account.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began_s = time.monotonic()
        response = self.get_response(request)
        # What is refused tells nothing of accounts and is not limited: it shall keep no thread
        # waiting.
        if response.status_code == 302 and _hides_accounts(request):
            time.sleep(ACCOUNT_ANSWER_S - (time.monotonic() - began_s) % ACCOUNT_ANSWER_S)
        return response


def _hides_accounts(request: HttpRequest) -> bool:
    match = request.resolver_match
    is_form = match is not None and match.url_name in HIDING_ACCOUNTS
    return is_form and request.method == "POST" and not request.user.is_authenticated


class LimitFailedSignIns(Middleware):
    """Makes people wait after too many failed sign-ins from their address, for the account that
    they name, or in all.
    """

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponseBase | None:
        if not _is_sign_in(request):
            return None
        address = throttle.address_of(request.META)
        account, proof = _tried(request)
        wait = throttle.seconds_until_sign_in(address, account, proof=proof)
        if not wait:
            return None
        response = message(
            request,
            429,
            title="Too many failed sign-ins",
            sentence="Too many wrong passwords or links came within an hour from your address, for "
            "this account, or in total.",
            hint=f"Try again in {math.ceil(wait / 60)} minutes.",
        )
        response["Retry-After"] = str(wait)
        return response


def _is_sign_in(request: HttpRequest) -> bool:
    route = request.resolver_match.url_name if request.resolver_match else None
    forms = (settings.LOGIN_URL, "account_reauthenticate")
    return route == "sign-in" or (request.method == "POST" and route in forms)


@receiver(user_login_failed)
def count_wrong_password(*, request: HttpRequest | None = None, **_: object) -> None:
    """Count a wrong password, from any form."""
    if request is not None:
        account, proof = _tried(request)
        throttle.count_failed_sign_in(throttle.address_of(request.META), account, proof=proof)


@receiver(authentication_failed)
def count_wrong_code(
    *, request: HttpRequest, user: User, reauthentication: bool, **_: object
) -> None:
    """Count a wrong code of a second factor."""
    proof = throttle.CODE_AGAIN if reauthentication else throttle.CODE
    throttle.count_failed_sign_in(throttle.address_of(request.META), str(user.pk), proof=proof)


def _tried(request: HttpRequest) -> tuple[str, str]:
    """The account and its proof: the name in the form of the sign-in page; the user of a session,
    whose password is asked for again; no account on other pages.
    """
    if (user := viewer(request)) is not None:
        return str(user.pk), throttle.PASSWORD_AGAIN
    return (request.POST.get("login", "") if request.method == "POST" else ""), throttle.PASSWORD
