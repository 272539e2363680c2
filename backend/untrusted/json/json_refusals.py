"""Why JSON is refused, in sentences for who sent it."""

import re
from collections.abc import Iterable
from typing import Any

from backend.errors import InvalidInput
from backend.visible_text import shortened

LONE_SURROGATE = (
    "A text in it has half a surrogate pair, as \\ud83d without \\ude00; expected whole characters."
)
# Of a place, which a refusal names.
MAX_NAME = 100
# With what follows it, it would be one character.
HIGH_SURROGATE_ALONE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
OUT_OF_RANGE = (
    "It has a number out of range: whole numbers have at most 64 bits, others are below 1.8e308."
)


class JsonRefused(InvalidInput):
    """The JSON is broken, or beyond a limit; the message names the limit.

    `where` is the place of a member, as in trials.0.error; empty for the whole. `subject` names
    what carries the JSON, as in "The body".
    """

    where = ""
    subject = ""

    def __str__(self) -> str:
        reason = super().__str__()
        return f"{self.subject} is refused. {reason}" if self.subject else reason

    @property
    def members(self) -> dict[str, Any]:
        """The place and the problem, as the errors of a form's fields."""
        return {"errors": [{"field": self.where or "request", "detail": super().__str__()}]}


class JsonTooLarge(JsonRefused):
    """More bytes than this JSON may have."""


def fault_in(raw: bytes, error: str) -> str:
    """What is wrong with JSON that the decoder refuses with `error`, as a sentence."""
    if "out of range" in error:
        return OUT_OF_RANGE
    # The decoder takes a text that goes on otherwise for one that ends too early.
    if "surrogate" in error or ("truncated" in error and _has_lone_surrogate(raw)):
        return LONE_SURROGATE
    return f"It is not JSON: {error}."


def _has_lone_surrogate(raw: bytes) -> bool:
    return any(
        _backslashes_before(raw, match.start()) % 2 == 0
        for match in HIGH_SURROGATE_ALONE.finditer(raw)
    )


def _backslashes_before(raw: bytes, end: int) -> int:
    start = end
    while start and raw[start - 1] == ord("\\"):
        start -= 1
    return end - start


def nul_refused(value: object) -> JsonRefused:
    """The refusal of a value with a NUL character: it names the place."""
    refused = JsonRefused("A text in it has a NUL character, expected no NUL.")
    refused.where = ".".join(shortened(name, MAX_NAME) for name in _path_of_nul(value) or ())
    return refused


def _path_of_nul(value: object) -> tuple[str, ...] | None:
    """The names that lead to the first NUL, or to the object with a NUL in a name; None without.

    They are joined once, at the end: each may have megabytes.
    """
    if isinstance(value, str):
        return () if "\0" in value else None
    for name, inner in _members(value):
        if "\0" in str(name):
            return ()
        path = _path_of_nul(inner)
        if path is not None:
            return str(name), *path
    return None


def _members(value: object) -> Iterable[tuple[object, object]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()
