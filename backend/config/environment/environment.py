"""Reading settings from the environment. A wrong or missing value stops the start with one line.

A secret NAME may be in a file instead, whose path is in NAME_FILE (secret_files.py).
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import parseaddr
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from backend.config.environment.secret_files import FILE_SUFFIX, SecretRefused, read_secret
from backend.email_address import is_mailable

# As Django asks of a SECRET_KEY, and more.
SECRET_CHARACTERS = 50
SECRET_DISTINCT = 8


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable the settings read: for the docs, and for the tests that hold them to it."""

    name: str
    default: str | None
    meaning: str
    # It may be given as a file, and is never in the environment of a container.
    is_secret: bool = False


VARIABLES: dict[str, Variable] = {}


def text(name: str, meaning: str, *, default: str | None = None, is_secret: bool = False) -> str:
    """The variable's value; without a default it must be set."""
    VARIABLES[name] = Variable(name, default, meaning, is_secret)
    value = _secret(name) if is_secret else os.environ.get(name, "")
    if value:
        return value
    if default is None:
        path = os.environ.get(name + FILE_SUFFIX) if is_secret else None
        got = f"{name} is not set" if not path else f"{name} is empty in the file {path}"
        raise ImproperlyConfigured(f"{got}. Set it to {meaning}.")
    return default


def _secret(name: str) -> str:
    try:
        return read_secret(name)
    except SecretRefused as refused:
        raise ImproperlyConfigured(str(refused)) from None


def optional_secret(name: str, meaning: str) -> str:
    """A secret that may be missing: empty then."""
    return text(name, meaning, default="", is_secret=True)


def random_secret(name: str, meaning: str) -> str:
    """A text that nobody can guess. The error says its length, never the text."""
    value = text(name, meaning, is_secret=True)
    distinct = len(set(value))
    if len(value) < SECRET_CHARACTERS or distinct < SECRET_DISTINCT:
        raise ImproperlyConfigured(
            f"{name} has {len(value)} characters, {distinct} of them distinct; expected at least "
            f"{SECRET_CHARACTERS} and {SECRET_DISTINCT}. Set it to {meaning}, for example from: "
            "python3 -c 'import secrets; print(secrets.token_hex(32))'"
        )
    return value


def whole(name: str, meaning: str, *, default: int) -> int:
    """A whole number of at least 0."""
    value = text(name, meaning, default=str(default))
    if not value.isdigit():
        raise ImproperlyConfigured(f"{name} is {value!r}, expected a whole number ({meaning}).")
    return int(value)


def flag(name: str, meaning: str, *, default: bool) -> bool:
    """true or false, nothing else."""
    value = text(name, meaning, default="true" if default else "false").lower()
    if value not in ("true", "false"):
        raise ImproperlyConfigured(f"{name} is {value!r}, expected true or false ({meaning}).")
    return value == "true"


def choice(name: str, meaning: str, *, allowed: Sequence[str], default: str) -> str:
    """One of the allowed values."""
    value = text(name, meaning, default=default)
    if value not in allowed:
        raise ImproperlyConfigured(
            f"{name} is {value!r}, expected {', '.join(allowed)} ({meaning})."
        )
    return value


def listing(name: str, meaning: str, *, default: str, is_secret: bool = False) -> list[str]:
    """Values separated by commas."""
    value = text(name, meaning, default=default, is_secret=is_secret)
    return [item.strip() for item in value.split(",") if item.strip()]


def web_address(name: str, meaning: str) -> str:
    """An http:// or https:// address that ends with a slash; empty if it is not set."""
    value = text(name, meaning, default="")
    if value and not value.startswith(("https://", "http://")):
        raise ImproperlyConfigured(
            f"{name} is {value!r}, expected an address with https:// or http:// ({meaning})."
        )
    return f"{value.removesuffix('/')}/" if value else ""


def mail_server(name: str, meaning: str) -> dict[str, object]:
    """Django's EMAIL_* settings for an smtp:// or smtps:// URL; empty if it is not set."""
    url = optional_secret(name, meaning)
    if not url:
        return {}
    parts = urlsplit(url)
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise ImproperlyConfigured(
            f"{name} has the scheme {parts.scheme!r}, expected smtp://user:password@host:587 "
            f"(with STARTTLS) or smtps://user:password@host:465 ({meaning})."
        )
    is_implicit = parts.scheme == "smtps"
    is_local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    return {
        "EMAIL_BACKEND": "backend.accounts.mail.outgoing_mail.SmtpBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or (465 if is_implicit else 587),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": is_implicit,
        # A mail server on this machine seldom has a certificate.
        "EMAIL_USE_TLS": not is_implicit and not is_local,
        "EMAIL_TIMEOUT": 10,
    }


def mail_sender(name: str, meaning: str, *, default: str) -> str:
    """An email address, with or without a name before it."""
    value = text(name, meaning, default=default)
    if not is_mailable(parseaddr(value)[1]):
        raise ImproperlyConfigured(
            f"{name} is {value!r}, expected name@example.org or Name <name@example.org> "
            f"({meaning})."
        )
    return value


def database(name: str, meaning: str, *, default: str | None = None) -> dict[str, object]:
    """Django's description of the database a postgresql:// URL names; empty if there is none."""
    url = text(name, meaning, default=default, is_secret=True)
    if not url:
        return {}
    parts = urlsplit(url)
    if parts.scheme not in ("postgres", "postgresql"):
        raise ImproperlyConfigured(
            f"{name} has the scheme {parts.scheme!r}, expected postgresql://user@host/name: "
            "Loadsheet needs PostgreSQL."
        )
    query = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "backend.config.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "postgres",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        # A socket folder comes as ?host=/path, which the host part of a URL cannot hold.
        "HOST": query.pop("host", None) or parts.hostname or "",
        "PORT": str(query.pop("port", None) or parts.port or ""),
        "OPTIONS": query,
    }
