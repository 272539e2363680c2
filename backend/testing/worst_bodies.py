"""The JSON that takes longest to read for its size, legal and refused: for tests and benches."""

import itertools
from collections.abc import Callable, Iterable, Iterator

import orjson

from backend.testing.reports import make_envelope, make_trial

# A float that lies in the middle between two others as far as its first 40 digits tell.
HALFWAY = b"1.00000000000000011102230246251565404236316680908203125"
SUBNORMAL = b"2.2250738585072011" + b"3" * 780 + b"e-308"


def _list(items: Iterable[bytes], size: int, *, closing: bytes = b"]") -> bytes:
    return _filled(b"[", items, closing, size)


def _object(members: Iterable[bytes], size: int) -> bytes:
    return _filled(b"{", members, b"}", size)


def _filled(opening: bytes, items: Iterable[bytes], closing: bytes, size: int) -> bytes:
    """As many of the items as fit."""
    left = size - len(opening) - len(closing)
    pieces: list[bytes] = []
    for item in items:
        left -= len(item) + 1
        if left < -1:
            break
        pieces.append(item)
    return opening + b",".join(pieces) + closing


def _same(item: bytes) -> Callable[[int], bytes]:
    return lambda size: _list(itertools.repeat(item), size)


def _text(piece: bytes) -> Callable[[int], bytes]:
    """A list of texts that repeat the piece, each a quarter of the whole."""

    def body(size: int) -> bytes:
        text = b'"' + piece * ((size // 4 - 4) // len(piece)) + b'"'
        return _list(itertools.repeat(text), size)

    return body


def _numbered(pattern: bytes, first: int = 1 << 20) -> Iterator[bytes]:
    return (pattern % number for number in itertools.count(first))


def _objects(members: int, pattern: bytes = b'"%x":0') -> Callable[[int], bytes]:
    """Objects of so many members, each name once in the whole body."""

    def body(size: int) -> bytes:
        names = _numbered(pattern)
        objects = (
            b"{" + b",".join(itertools.islice(names, members)) + b"}" for _ in itertools.count()
        )
        return _list(objects, size)

    return body


def _nested(size: int) -> bytes:
    """49 levels of lists, as few in all as is allowed, filled with whole numbers."""
    filling = b",".join(itertools.repeat(b"87654321", 6))
    return _list(itertools.repeat((b"[" + filling + b",") * 48 + b"[]" + b"]" * 48), size)


def _large_within_large(size: int) -> bytes:
    """One object with many members inside of 40 lists."""
    return b"[" * 40 + _object(_numbered(b'"%x":0'), size - 80) + b"]" * 40


def _last(item: bytes, others: bytes) -> Callable[[int], bytes]:
    """What is refused comes last."""
    return lambda size: _list(
        itertools.chain(
            itertools.repeat(others, (size - 2 * len(item)) // (len(others) + 1)), [item]
        ),
        size,
    )


def _trials(size: int) -> bytes:
    """An honest envelope: as many trials as fit."""
    largest = orjson.dumps(make_trial(10_000))
    return orjson.dumps(make_envelope((size - 1000) // len(largest)))


HONEST = "an envelope of trials"
# By what the body has, a function that makes one of at most so many bytes.
BODIES: dict[str, Callable[[int], bytes]] = {
    HONEST: _trials,
    "whole numbers of 4,300 digits": _same(b"9" * 4300),
    "whole numbers of 640 digits": _same(b"9" * 640),
    "whole numbers of 100 digits": _same(b"7" * 100),
    "whole numbers of 65 bits": _same(b"18446744073709551616"),
    "whole numbers of 63 bits": _same(b"9223372036854775807"),
    "one whole number": lambda size: b"9" * size,
    "zeros": _same(b"0"),
    "short whole numbers": lambda size: _list(_numbered(b"%d", 10**7), size),
    "floats at the end of their range": _same(b"1.7976931348623157e308"),
    "the largest power of ten": _same(b"1000e305"),
    "the least floats": _same(b"0.05e-322"),
    "floats of 55 digits": _same(HALFWAY),
    "floats of 800 digits": _same(SUBNORMAL),
    "one float": lambda size: b"0." + b"3" * (size - 2),
    "a float out of range at the end": _last(b"1e999", b"0.123456"),
    "names of one object": lambda size: _object(_numbered(b'"%x":0'), size),
    "names of one object within lists": _large_within_large,
    "names of objects of 10,000 members": _objects(10_000),
    "names of objects of 1,000 members": _objects(1_000),
    "names of objects of 5 members": _objects(5),
    "long names": _objects(9_999, b'"%040x":0'),
    "one name again and again": lambda size: _object(itertools.repeat(b'"name":0'), size),
    "one name with other values": lambda size: _object(_numbered(b'"n":"%x"'), size),
    "a broken end behind objects": lambda size: _objects(40)(size)[:-1] + b"!",
    "50 levels": _nested,
    "lists of lists": _same(b"[[[" + b",".join([b"1234567890"] * 12) + b"]]]"),
    "empty objects": _same(b'{},"0123456789012345678901234567890123456789"'),
    "short texts": lambda size: _list(_numbered(b'"%x"'), size),
    "nulls": _same(b"null"),
    "large texts": _text(b"x"),
    "texts of escapes": _text(b"\\n"),
    "texts of pairs of surrogates": _text(b"\\ud83d\\ude00"),
    "texts of characters of 4 bytes": _text("😀".encode()),
    "texts of control characters": _text(b"\\u0001"),
    "texts that speak of NUL": _text(b"\\\\u0000"),
    "texts with NUL": _same(b'"\\u0000 345"'),
    "NUL in the last text": _last(b'"\\u0000"', b'"345678"'),
    "broken UTF-8 at the end": lambda size: b'"' + "é".encode() * (size // 2 - 2) + b'\xff"',
    "blanks": lambda size: b" " * (size - 1) + b"0",
}
