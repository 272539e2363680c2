"""Whether the service knows who sends a request: asked before a large body is read."""

from collections.abc import Mapping
from importlib import import_module

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest, parse_cookie

from backend.accounts import tokens
from backend.accounts.models import BEARER_KINDS
from backend.api.auth import clear_text
from backend.api.errors import Problem

_sessions = import_module(settings.SESSION_ENGINE)


def is_known(headers: Mapping[str, str]) -> bool:
    """Whether the headers have a valid token, or the session of a person.

    Names of headers are as in `ACCEPT_ENCODING`. Raises the errors of the database.
    """
    if authorization := headers.get("AUTHORIZATION"):
        return _is_token(authorization)
    request = HttpRequest()
    request.session = _sessions.SessionStore(_session_key(headers))
    return get_user(request).is_authenticated


def _is_token(authorization: str) -> bool:
    try:
        tokens.find(clear_text(authorization.encode("latin-1")), *BEARER_KINDS)
    except (Problem, tokens.TokenRefused):
        return False
    return True


def _session_key(headers: Mapping[str, str]) -> str:
    return parse_cookie(headers.get("COOKIE", "")).get(settings.SESSION_COOKIE_NAME, "")
