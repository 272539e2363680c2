"""Secrets from files: the environment of a process can be read by whoever may inspect a container.

A secret setting NAME is given as NAME, or as NAME_FILE with the path of a file. It imports nothing
of Django: health checks and what starts the site use it.
"""

import os
import stat
from pathlib import Path

from backend.errors import WorkFailed

FILE_SUFFIX = "_FILE"
# The longest secrets are URLs and lists of peppers.
LARGEST_BYTES = 64 << 10
# Only its owner may change it, and only owner and group may read it.
FORBIDDEN = stat.S_IWGRP | stat.S_IWOTH | stat.S_IROTH


class SecretRefused(WorkFailed):
    """A secret is not given as it should be; the message names the file and never the secret."""


def is_given(name: str) -> bool:
    """Whether the environment has this variable, or the path of its file."""
    return name in os.environ or bool(os.environ.get(name + FILE_SUFFIX))


def read_secret(name: str) -> str:
    """The secret `name`; empty where it is not set, or where its file is empty.

    Raises SecretRefused.
    """
    value, path = os.environ.get(name, ""), os.environ.get(name + FILE_SUFFIX, "")
    if not path:
        return value
    if value:
        raise SecretRefused(
            f"{name} and {name}{FILE_SUFFIX} are both set, expected one of them. Unset {name}."
        )
    try:
        return _content(name, Path(path))
    except OSError as error:
        raise SecretRefused(
            f"{name}{FILE_SUFFIX} is {path!r}, which cannot be read: {error.strerror}. Expected a "
            f"file with the secret alone, readable by the user {os.geteuid()}."
        ) from None


def _content(name: str, path: Path) -> str:
    """Raises OSError and SecretRefused."""
    with path.open("rb") as file:
        about = os.fstat(file.fileno())
        _refuse_others(name, path, about.st_mode)
        content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise _refused(name, path, f"has more than {LARGEST_BYTES} bytes")
    try:
        # Editors and `echo` end a file with a line break.
        value = content.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise _refused(name, path, "is not UTF-8") from None
    if value != value.strip() or not value.isprintable():
        raise _refused(name, path, "has more than one line, or white space around the secret")
    return value


def _refuse_others(name: str, path: Path, mode: int) -> None:
    if stat.S_ISREG(mode) and not mode & FORBIDDEN:
        return
    if not stat.S_ISREG(mode):
        raise _refused(name, path, "is not a file")
    raise SecretRefused(
        f"{name}{FILE_SUFFIX} is {str(path)!r} with the mode {stat.S_IMODE(mode):04o}, so other "
        f"users may read or change it. Expected 0400 or 0440: chmod 0400 {path}"
    )


def _refused(name: str, path: Path, what: str) -> SecretRefused:
    return SecretRefused(
        f"{name}{FILE_SUFFIX} is {str(path)!r}, which {what}. Expected a file of one line with the "
        "secret alone."
    )
