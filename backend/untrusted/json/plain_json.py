"""JSON that strangers sent: limited by size and depth, and without what cannot be stored.

It imports no Django, because the child that reads archives uses it too.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

import msgspec
import orjson

from backend.untrusted.json.json_pieces import TooManyLevels, TooManyMembers, decode
from backend.untrusted.json.json_refusals import JsonRefused, JsonTooLarge, fault_in, nul_refused

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
        raise JsonRefused(fault_in(raw, str(error))) from None
    _check_members(value)
    _size_if_storable(value)
    return value


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
        raise nul_refused(value)
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
