"""The few words in braces a plan may use; other braces are left alone (they may be JSON)."""

from __future__ import annotations

import platform
import re
import socket
import sys
from collections.abc import Iterable, Mapping


def constant_words(directory: str) -> dict[str, str]:
    """Values by the words that mean the same for every server; `directory` is the plan's."""
    return {
        "python": sys.executable,
        "python_version": platform.python_version(),
        "here": directory,
    }


def fill(text: str, words: Mapping[str, str]) -> str:
    """`{word}` replaced by its value."""
    for word, value in words.items():
        text = text.replace("{" + word + "}", value)
    return text


def fill_all(texts: Iterable[str], words: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(fill(text, words) for text in texts)


def fill_environment(text: str, environ: Mapping[str, str], secrets: set[str]) -> str:
    """`{env:NAME}` replaced by the environment variable, whose value is added to `secrets`.

    Raises KeyError with the name of a variable that is not set.
    """

    def value_of(match: re.Match[str]) -> str:
        value = environ[match.group(1)]
        secrets.add(value)
        return value

    return re.sub(r"\{env:(\w+)\}", value_of, text)


def free_ports(count: int) -> tuple[int, ...]:
    """Free loopback ports, all different because they are held open together while chosen."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_STREAM) for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return tuple(each.getsockname()[1] for each in sockets)
    finally:
        for each in sockets:
            each.close()
