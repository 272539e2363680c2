"""JSON decoded in pieces, between which other threads run.

One call of the decoder keeps the other threads of a process waiting until it returns: for 4 MiB of
distinct names in one object that took 160 ms, most of it to enlarge the object again and again. It
imports no Django, because the child that reads archives uses it too.
"""

import json
import math
import sys
from collections.abc import Iterable
from typing import Any

import msgspec
import orjson

from backend.errors import LoadsheetError

# Decoded by one call. The worst text of this size takes 20 ms.
PIECE_BYTES = 512 << 10
# So many items of a list are joined again and decoded by one call, where they are that short.
ITEMS = 500
# JSON that is stored already has no limit of levels. Python itself allows about a thousand.
STORED_LEVELS = 500

# The least that Python takes. To convert a whole number of 4,300 digits, which is the most by
# default, takes fifty times as long as to skip it. Of 64 bits are 20 digits; the database writes
# 1e308, which it keeps, with 309.
sys.set_int_max_str_digits(640)


class TooManyMembers(LoadsheetError):
    """An object has more members than it may have."""


class TooManyLevels(LoadsheetError):
    """Large lists or objects are nested deeper than they may be."""


def _finite(digits: str) -> float:
    """Raises ValueError."""
    number = float(digits)
    if math.isinf(number):
        raise ValueError("out of range")
    return number


# By itself msgspec takes 15 µs for one number near the ends of what a float holds, seconds for the
# largest body, and no other thread runs meanwhile.
_DECODER = msgspec.json.Decoder(float_hook=_finite)
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])


class _Name(str):
    """The name of a member of a large object: the decoder asks `_Counter` for each."""

    __slots__ = ()


class _Counter:
    """Counts the members of one object while it is decoded; other threads run meanwhile."""

    def __init__(self, most: float) -> None:
        self._left = most

    def __call__(self, kind: type[str], name: str) -> str:
        if self._left <= 0:
            raise TooManyMembers
        self._left -= 1
        return kind(name)


def decode(raw: bytes | memoryview, *, levels: int, most_members: float = math.inf) -> Any:
    """The value of the JSON `raw`. The limits are of lists and objects above PIECE_BYTES alone.

    Raises MsgspecError and UnicodeDecodeError for what is no JSON, RecursionError, TooManyMembers
    and TooManyLevels.
    """
    if len(raw) <= PIECE_BYTES:
        return _DECODER.decode(raw)
    if levels == 0:
        raise TooManyLevels
    match bytes(raw[:1]):
        case b"{":
            counter = _Counter(most_members)
            outer = msgspec.json.Decoder(dict[_Name, msgspec.Raw], dec_hook=counter)
            return {
                str(name): decode(memoryview(value), levels=levels - 1, most_members=most_members)
                for name, value in outer.decode(raw).items()
            }
        case b"[":
            return _decode_list(raw, levels - 1, most_members)
    return _DECODER.decode(raw)


def _decode_list(raw: bytes | memoryview, levels: int, most_members: float) -> list[Any]:
    items = _ITEMS.decode(raw)
    value: list[Any] = []
    for start in range(0, len(items), ITEMS):
        some = items[start : start + ITEMS]
        if (together := _decode_together(some)) is not None:
            value += together
            continue
        value += [
            decode(memoryview(item), levels=levels, most_members=most_members) for item in some
        ]
    return value


def _decode_together(items: Iterable[msgspec.Raw]) -> list[Any] | None:
    """The values of the items; None if they are too large for one call."""
    joined = b",".join(items)
    if len(joined) > PIECE_BYTES:
        return None
    values: list[Any] = _DECODER.decode(b"[" + joined + b"]")
    return values


class PieceDecoder(json.JSONDecoder):
    """Reads a column of JSON that strangers filled."""

    def decode(self, s: str, *_: Any) -> Any:
        """The value of `s`. Raises JSONDecodeError, which Django expects."""
        try:
            return decode(s.encode(), levels=STORED_LEVELS)
        except msgspec.MsgspecError as error:
            raise json.JSONDecodeError(str(error), s, 0) from None


class QuickEncoder(json.JSONEncoder):
    """Writes a column of JSON that strangers filled, ten times as fast as the library of Python."""

    def encode(self, o: Any) -> str:
        """`o` as JSON."""
        try:
            return orjson.dumps(o).decode()
        except TypeError:
            # Whole numbers above 64 bits: the database keeps 1e300, and writes it as one.
            return super().encode(o)
