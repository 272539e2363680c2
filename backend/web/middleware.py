"""Headers and limits that apply to every response, and pages whose texts hide nothing."""

import hashlib
import time
from collections.abc import Callable

from allauth.account.signals import password_reset
from allauth.core.exceptions import ReauthenticationRequired
from allauth.mfa.signals import authentication_failed
from django.conf import settings
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.contrib.auth.views import redirect_to_login
from django.dispatch import receiver
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.urls import reverse

from backend.accounts import audit
from backend.accounts.limits import throttle
from backend.accounts.limits.addresses import sender_address
from backend.accounts.limits.limiters import ACCOUNT_CHANGES, RESETS, SIGN_UPS, Limiter
from backend.accounts.limits.throttle import TooOften
from backend.accounts.models import User
from backend.accounts.sign_in import browsers, guesses
from backend.accounts.sign_in.adapter import SIGN_UP_TOKEN, may_sign_up
from backend.accounts.workspace.takedowns import TakenDown
from backend.errors import LoadsheetError
from backend.middleware import Middleware
from backend.visible_text import visible
from backend.web.base.errors import answer_error, error_page, form_only
from backend.web.base.tombstones import tombstone
from backend.web.base.visible import Moved, viewer

PRIVATE = "private, no-store"
# These forms do other work for an address that has an account than for one that has none.
HIDING_ACCOUNTS = ("account_reset_password", "account_signup")
# Several times as long as that work takes.
ACCOUNT_ANSWER_S = 0.5
# What the owner of an account can do at once, while strangers have filled its counter.
_KNOWN = "Or sign in with a browser in which you signed in to this account before."
BY_MAIL = f"{_KNOWN} Or have a new password mailed: the browser that opens the mail can sign in."
BY_OPERATOR = f"{_KNOWN} Or ask the operator for a sign-in link (manage.py sign_in_link)."
# What people read. JSON and Parquet are for programs, and raw output is as it was sent.
FOR_PEOPLE = ("text/html", "text/csv", "image/svg+xml")


class PrivateByDefault(Middleware):
    """Forbids caching unless the view allows it."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", PRIVATE)
        return response


class NameActor(Middleware):
    """Tells the audit log who sends a request; a token says so itself (`api/protocol/auth.py`)."""

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


class StrangersSignInFirst(Middleware):
    """Leads a stranger from what asks for the password again to the sign-in page.

    django-allauth would keep the whole form of a stranger in a new session, which is a row.
    """

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        """None leaves the error to django-allauth."""
        if isinstance(error, ReauthenticationRequired) and not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        return None


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


class LimitForms(Middleware):
    """Makes people wait who gave too many wrong passwords, or sent too many forms that anybody may
    send; and tells a browser that somebody signed in with it.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        browsers.remember(request, response)
        return response

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponseBase | None:
        try:
            _check_form(request)
        except TooOften as refused:
            return answer_error(request, refused)
        return None


def _check_form(request: HttpRequest) -> None:
    """Raises TooOften."""
    route = request.resolver_match.url_name if request.resolver_match else None
    if request.method != "POST" or route is None:
        return
    if route in PASSWORD_FORMS:
        hint = BY_MAIL if settings.SENDS_MAIL else BY_OPERATOR
        guesses.check(guesses.of_password(request, viewer(request)), hint=hint)
    elif route in LIMITED_FORMS:
        limiter, payer_of = LIMITED_FORMS[route]
        throttle.require(limiter, payer_of(request))


def _network(request: HttpRequest) -> throttle.Payer:
    return throttle.network_of(request.META)


def _session(request: HttpRequest) -> throttle.Payer:
    """The session; of somebody who is not signed in, and is only led to the sign-in page, the
    network."""
    if viewer(request) is None:
        return _network(request)
    return throttle.payer_of(f"session {request.session.session_key}")


def _invitation(request: HttpRequest) -> throttle.Payer:
    """The invitation that the browser opened, else the network."""
    token = request.session.get(SIGN_UP_TOKEN, "")
    if not may_sign_up(token):
        return _network(request)
    return throttle.payer_of(f"invitation {hashlib.sha256(token.encode()).hexdigest()}")


PASSWORD_FORMS = ("account_login", "account_reauthenticate")
# What django-allauth would limit by itself, without a payer and with a page of its own.
LIMITED_FORMS: dict[str, tuple[Limiter, Callable[[HttpRequest], throttle.Payer]]] = {
    "account_signup": (SIGN_UPS, _invitation),
    "account_reset_password": (RESETS, _network),
    "account_change_password": (ACCOUNT_CHANGES, _session),
    "account_email": (ACCOUNT_CHANGES, _session),
}


@receiver(user_login_failed)
def count_wrong_password(*, request: HttpRequest | None = None, **_: object) -> None:
    """Count a wrong password, from any form."""
    if request is not None:
        guesses.count_wrong(guesses.of_password(request, viewer(request)))


@receiver(authentication_failed)
def count_wrong_code(
    *, request: HttpRequest, user: User, reauthentication: bool, **_: object
) -> None:
    """Count a wrong code of a second factor."""
    guesses.count_wrong(guesses.of_code(request, user, is_signed_in=reauthentication))


@receiver(user_logged_in)
@receiver(password_reset)
def prove_browser(*, request: HttpRequest, user: User, **_: object) -> None:
    """Whoever signs in, or opens the mail for a new password, is no stranger to the account."""
    browsers.prove(request, user)


class ShowUnseenCharacters(Middleware):
    """Shows a mark for each character of an answer that nobody would see (visible_text.py).

    Here and not where names are written: rows from before, and every new page, pass through here.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if kind not in FOR_PEOPLE or not isinstance(response, HttpResponse):
            return response
        text = response.content.decode(response.charset)
        shown = visible(text, keeps_returns=kind == "text/html")
        if shown != text:
            response.content = shown
            if response.has_header("Content-Length"):
                response.headers["Content-Length"] = str(len(response.content))
        return response
