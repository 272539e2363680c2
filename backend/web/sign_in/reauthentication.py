"""The forms that ask again for password, code or key, and the first password of an account."""

import json
from typing import Any
from urllib.parse import parse_qsl

from allauth.account.internal.flows.reauthentication import (
    STATE_SESSION_KEY,
    get_reauthentication_flows,
)
from allauth.account.utils import get_next_redirect_url
from allauth.account.views import ReauthenticateView, password_set
from allauth.mfa.base.views import ReauthenticateView as CodeView
from allauth.mfa.webauthn.views import ReauthenticateWebAuthnView as KeyView
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponse

from backend.accounts.sign_in import recent_sign_in
from backend.web.base.errors import message

# What a form carries besides what it asks for.
OF_EVERY_FORM = {"csrfmiddlewaretoken", REDIRECT_FIELD_NAME}
HINT = (
    "Ask the operator for a new sign-in link (manage.py sign_in_link), sign out, and open the link."
)


def set_password(request: HttpRequest) -> HttpResponse:
    """The first password of an account, in a new session only: with it somebody who took over the
    session would keep the account."""
    user = request.user
    if user.is_authenticated and not (
        user.has_usable_password() or recent_sign_in.began_lately(request)
    ):
        sentence = "You signed in too long ago to choose the first password of this account."
        return message(request, 403, title="Sign in again", sentence=sentence, hint=HINT)
    response: HttpResponse = password_set(request)
    return response


def confirm_by_password(request: HttpRequest) -> HttpResponse:
    """Asks for the password."""
    if request.user.is_authenticated and not get_reauthentication_flows(request.user):
        sentence = "This account has no password, code or key that could be asked for."
        return message(request, 403, title="Nothing to confirm with", sentence=sentence, hint=HINT)
    return _confirm(ReauthenticateView, request)


def confirm_by_code(request: HttpRequest) -> HttpResponse:
    """Asks for a code of the authenticator app."""
    return _confirm(CodeView, request)


def confirm_by_key(request: HttpRequest) -> HttpResponse:
    """Asks for a key."""
    return _confirm(KeyView, request)


def _confirm(view: Any, request: HttpRequest) -> HttpResponse:
    response: HttpResponse = view.as_view(extra_context={"waiting": _waiting(request)})(request)
    return response


def _waiting(request: HttpRequest) -> dict[str, Any]:
    """The request that is carried out after the confirmation; empty if none waits.

    Shown, because whoever shares the session may have sent it.
    """
    state = request.session.get(STATE_SESSION_KEY) or {}
    waiting = json.loads(state.get("request", "{}"))
    # As django-allauth does: a request that waits for another page is dropped.
    if not waiting or waiting["path"] != get_next_redirect_url(request, REDIRECT_FIELD_NAME):
        return {}
    sent = parse_qsl(waiting["POST"], keep_blank_values=True)
    fields = [(name, value) for name, value in sent if name not in OF_EVERY_FORM]
    return {"path": waiting["path"], "fields": fields}
