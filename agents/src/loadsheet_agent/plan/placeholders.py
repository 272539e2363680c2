"""The few words in braces a plan may use; other braces are left alone (they may be JSON)."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

# Words that have a meaning of their own, so no variable has their name.
RESERVED = frozenset(
    {
        *("python", "python_version", "here", "port", "version", "interpreter", "install", "run"),
        *("interpreter_version", "workers", "backlog", "shelf", "apps"),
    }
)


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


def fill_value(value: Any, words: Mapping[str, str]) -> Any:
    """TOML data with `{word}` replaced in each of its texts."""
    if isinstance(value, str):
        return fill(value, words)
    if isinstance(value, dict):
        return {name: fill_value(member, words) for name, member in value.items()}
    if isinstance(value, list):
        return [fill_value(member, words) for member in value]
    return value


def fill_environment(text: str, environ: Mapping[str, str], secrets: set[str]) -> str:
    """`{env:NAME}` replaced by the environment variable, whose value is added to `secrets`.

    Raises KeyError with the name of a variable that is not set.
    """

    def value_of(match: re.Match[str]) -> str:
        value = environ[match.group(1)]
        secrets.add(value)
        return value

    return re.sub(r"\{env:(\w+)\}", value_of, text)
