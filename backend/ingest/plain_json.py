"""JSON that strangers sent: limited by size and depth, and without what cannot be stored.

It imports no Django, because the child that reads archives uses it too.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import orjson

from backend.errors import InvalidInput
from backend.ingest.json_pieces import TooManyLevels, TooManyMembers, decode

JSON_LEVELS = 50
# Each list or object takes about a hundred bytes of memory, however short it is written.
JSON_BRACKETS = 100_000
# They separate the members of objects and lists. An envelope of 4 MiB has about 300,000 where it is
# all trials.
JSON_COMMAS = 500_000
# Of one object. Those whose members are named elsewhere have at most 1,000 (`limits.MAP_MEMBERS`).
JSON_OBJECT_MEMBERS = 10_000
JSON_INTEGER_BITS = 64

# Of JSON, around values.
BLANKS = b" \t\r\n"
TOO_DEEP = f"It has more than {JSON_LEVELS} levels, the limit."
TOO_MANY_MEMBERS = f"An object in it has more than {JSON_OBJECT_MEMBERS} members, the limit."
LONE_SURROGATE = (
    "A text in it has half a surrogate pair, as \\ud83d without \\ude00; expected whole characters."
)
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


def read_json(raw: bytes, *, limit_bytes: int, subject: str) -> Any:
    """The value of `raw`, which `subject` carries. Raises JsonRefused and JsonTooLarge."""
    try:
        return _read_json(raw, limit_bytes)
    except JsonRefused as refused:
        refused.subject = subject
        raise


def _read_json(raw: bytes, limit_bytes: int) -> Any:
    if len(raw) > limit_bytes:
        raise JsonTooLarge(f"It has more than {limit_bytes:,} bytes, the limit.")
    # Before anything is built of it. Brackets and commas in texts count too: they are few.
    if raw.count(b"[") + raw.count(b"{") > JSON_BRACKETS:
        raise JsonRefused(f"It has more than {JSON_BRACKETS} opening brackets, the limit.")
    if raw.count(b",") > JSON_COMMAS:
        raise JsonRefused(f"It has more than {JSON_COMMAS} commas, the limit.")
    try:
        value = decode(raw.strip(BLANKS), levels=JSON_LEVELS, most_members=JSON_OBJECT_MEMBERS)
    except (RecursionError, TooManyLevels):
        raise JsonRefused(TOO_DEEP) from None
    except TooManyMembers:
        raise JsonRefused(TOO_MANY_MEMBERS) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise JsonRefused(_fault_in(raw, str(error))) from None
    _check_members(value)
    _size_if_storable(value)
    return value


def _fault_in(raw: bytes, error: str) -> str:
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


def check_plain(value: object) -> int:
    """The bytes of `value` as JSON. Raises JsonRefused for what PostgreSQL cannot keep.

    Its members are not counted: what is stored may have been stored before there was a limit.
    """
    deque(_levels(value), maxlen=0)
    return _size_if_storable(value)


def _check_members(value: object) -> None:
    for level in _levels(value):
        if any(len(each) > JSON_OBJECT_MEMBERS for each in level if isinstance(each, dict)):
            raise JsonRefused(TOO_MANY_MEMBERS)


def _size_if_storable(value: object) -> int:
    try:
        written = orjson.dumps(value)
    except TypeError as error:
        limit = f"whole numbers of at most {JSON_INTEGER_BITS} bits and no lone surrogates"
        raise JsonRefused(f"It cannot be stored ({error}), expected {limit}.") from None
    # Without pairs of backslashes: in \\u0000 the backslash is a plain one.
    if b"\\u0000" in written and b"\\u0000" in written.replace(rb"\\", b""):
        raise _nul_refused(value)
    return len(written)


def _levels(value: object) -> Iterator[list[Any]]:
    """The objects and lists of each level, from the outermost; each is looked at once.

    Raises JsonRefused below the last level that is allowed.
    """
    level: list[Any] = [value] if isinstance(value, (dict, list)) else []
    for _ in range(JSON_LEVELS):
        if not level:
            return
        yield level
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
    if level:
        raise JsonRefused(TOO_DEEP)


def _nul_refused(value: object) -> JsonRefused:
    refused = JsonRefused("A text in it has a NUL character, expected no NUL.")
    refused.where = next(_places_of_nul(value, ""), "")
    return refused


def _places_of_nul(value: object, where: str) -> Iterator[str]:
    if isinstance(value, str) and "\0" in value:
        yield where
    for name, inner in _members(value):
        place = f"{where}.{name}" if where else str(name)
        if "\0" in str(name):
            yield where
        yield from _places_of_nul(inner, place)


def _members(value: object) -> Iterable[tuple[object, object]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()
