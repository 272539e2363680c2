"""Where results go: the address of the service, and the token."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from loadsheet_agent.errors import UsageError
from loadsheet_agent.upload.login import read_login


@dataclass(frozen=True)
class Target:
    """`url` has no slash at its end."""

    url: str
    token: str


def read_target(url: str | None, token: str | None) -> Target | None:
    """Flags, else the environment, else the saved login; None when none of them has an address.

    Raises UsageError for an address without a token, and for what is neither.
    """
    is_token_given = bool(token)
    url = url or os.environ.get("LOADSHEET_URL")
    token = token or os.environ.get("LOADSHEET_TOKEN")
    login = read_login()
    if login is not None and (not url or url.rstrip("/") == login.url):
        url, token = url or login.url, token or login.token
    if not url and not is_token_given:
        return None  # a token that is only in the environment is no mistake
    return make_target(url, token)


def require_target(url: str | None, token: str | None) -> Target:
    """As `read_target`, for a command that needs the service."""
    target = read_target(url, token)
    if target is None:
        raise UsageError(
            "no address to send to; run `loadsheet login URL`, set LOADSHEET_URL or give --url."
        )
    return target


def make_target(url: str | None, token: str | None) -> Target:
    """Raises UsageError for a missing or malformed address or token."""
    if not url:
        raise UsageError("a token is given but no address; set LOADSHEET_URL or give --url.")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise UsageError(
            f'the address {url!r} is not understood; expected a form like "https://host".'
        )
    if not token:
        raise UsageError(f"no token for {url}; set LOADSHEET_TOKEN or give --token.")
    if not all(33 <= ord(char) <= 126 for char in token):
        raise UsageError(
            "the token has characters that no token has; copy it again, without blanks."
        )
    return Target(url=url.rstrip("/"), token=token)
