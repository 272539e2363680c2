"""The saved login: address and token, readable by this user alone."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from loadsheet_agent.errors import UsageError


@dataclass(frozen=True)
class Login:
    url: str
    token: str


def login_path() -> Path:
    """LOADSHEET_CONFIG, else in the user's configuration directory."""
    given = os.environ.get("LOADSHEET_CONFIG")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "loadsheet" / "login.json"


def read_login() -> Login | None:
    """None where nobody logged in. Raises UsageError for a damaged file."""
    try:
        saved = json.loads(login_path().read_text(encoding="utf-8"))
        return Login(url=str(saved["url"]), token=str(saved["token"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{login_path()} cannot be read as a login ({error}); run `loadsheet login URL` again."
        ) from error


def write_login(login: Login) -> Path:
    """Where it was written. Raises UsageError where that is not possible."""
    path = login_path()
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Unreadable for others before the token is in it.
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(login), file)
        part.replace(path)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written ({error.strerror}); set LOADSHEET_CONFIG to another place."
        ) from error
    return path


def forget_login() -> bool:
    """True when there was a login."""
    try:
        login_path().unlink()
    except FileNotFoundError:
        return False
    return True
