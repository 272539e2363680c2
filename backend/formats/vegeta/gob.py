"""vegeta's own results: a stream of Go's gob, which describes its types before it uses them.

https://pkg.go.dev/encoding/gob. Only what a Result needs is decoded, in one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from backend.formats.model import FormatError, ParsedTrial
from backend.formats.refusals import fault_in
from backend.formats.text import Source
from backend.formats.vegeta.results import COLUMNS, Attempts

if TYPE_CHECKING:
    import polars as pl

READ_BYTES = 4 << 20
# A result holds the body of its response.
LONGEST_MESSAGE_BYTES = 64 << 20
ROWS = 1 << 16
# Seconds from the year 1, from which Go counts, to 1970.
UNIX_EPOCH_S = 62_135_596_800
# Ids of the types that need no description.
BOOL, INT, UINT, FLOAT, BYTES, STRING = 1, 2, 3, 4, 5, 6


# From bytes and a position to a value and the position behind it; raises LookupError at the end.
Reader = Callable[[bytes, int], tuple[Any, int]]
Fields = Sequence[tuple[str, int]]
Row = list[Any]
# The types in which types are described: fields by name and type id.
DESCRIPTION, COMMON, FIELD, FIELDS, ENCODER = 16, 18, 21, 22, 24
DESCRIPTIONS: Mapping[int, Fields] = {
    DESCRIPTION: (
        ("array", 17),
        ("slice", 19),
        ("struct", 20),
        ("map", 23),
        ("encoder", ENCODER),
        ("encoder", ENCODER),
        ("encoder", ENCODER),
    ),
    17: (("common", COMMON), ("element", INT), ("length", INT)),
    COMMON: (("name", STRING), ("id", INT)),
    19: (("common", COMMON), ("element", INT)),
    20: (("common", COMMON), ("fields", FIELDS)),
    FIELD: (("name", STRING), ("id", INT)),
    23: (("common", COMMON), ("key", INT), ("element", INT)),
    ENCODER: (("common", COMMON),),
}
# Where the fields of a Result go: the places of COLUMNS.
PLACES = {"Timestamp": 0, "Code": 1, "Latency": 2, "BytesIn": 3, "Error": 4, "URL": 5}


def is_gob(source: Source) -> bool:
    """Whether the stream begins with the description of vegeta's Result."""
    head = source.data[:512]
    return b"\x06Result" in head[:16] and all(name in head for name in (b"Timestamp", b"Latency"))


def read_gob(source: Source) -> ParsedTrial:
    """The attempts of a gob stream; a last message that is cut off is left out."""
    attempts, decoder = Attempts(), _Decoder()
    rows: list[Row] = []
    messages = _Messages(source)
    try:
        for message in messages:
            row = decoder.row(message)
            if row is not None:
                rows.append(row)
            if len(rows) == ROWS:
                attempts.add(_frame(rows))
                rows = []
        attempts.add(_frame(rows))
    except FormatError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError, RecursionError) as wrong:
        raise FormatError(
            "The vegeta results are damaged.",
            found=f"in message {messages.number}: {fault_in(wrong)}",
            expected="the gob stream that vegeta attack writes",
        ) from None
    return attempts.trial(incomplete=messages.is_cut)


def _frame(rows: Sequence[Row]) -> pl.DataFrame:
    """A frame of COLUMNS; raises TypeError for a value of another kind."""
    import polars as pl

    kinds = {int: pl.Int64, str: pl.String}
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    named = zip(COLUMNS.items(), columns, strict=True)
    return pl.DataFrame(
        {name: pl.Series(cells, dtype=kinds[kind]) for (name, kind), cells in named}
    )


class _Messages:
    """The messages of a stream, each without its length."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.number = 0
        self.is_cut = False

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        with self._source.artefact.open() as stream:
            while piece := stream.read(READ_BYTES):
                data, at = rest + piece, 0
                while (end := _message_end(data, at)) is not None:
                    self.number += 1
                    begin, at = end
                    yield data[begin:at]
                rest = data[at:]
        self.is_cut = bool(rest)


def _message_end(data: bytes, at: int) -> tuple[int, int] | None:
    """Where the message at a position begins and ends; None if it is not all there."""
    try:
        length, begin = _uint(data, at)
    except IndexError:
        return None
    if not 0 < length <= LONGEST_MESSAGE_BYTES:
        raise TypeError(f"of {length} bytes")
    return (begin, begin + length) if begin + length <= len(data) else None


class _Decoder:
    """Decodes messages with the types that earlier ones described."""

    def __init__(self) -> None:
        self._readers: dict[int, Reader] = {
            **dict.fromkeys((BOOL, UINT, FLOAT), _uint),
            INT: _int,
            BYTES: _bytes,
            STRING: _text,
            FIELDS: self._many(FIELD),
            **{number: self._struct(fields) for number, fields in DESCRIPTIONS.items()},
        }
        # Of the results: their type id, and each field's reader and place.
        self._result_type = 0
        self._plan: list[tuple[Reader, int | None]] = []

    def row(self, message: bytes) -> Row | None:
        """The result in a message by COLUMNS; None for the description of a type."""
        number, at = _int(message, 0)
        if number < 0:
            self._describe(-number, self._readers[DESCRIPTION](message, at)[0])
            return None
        if number != self._result_type:
            raise TypeError(f"a value of type {number}, not of a Result")
        return self._result(message, at)

    def _describe(self, number: int, described: Mapping[str, Any]) -> None:
        if len(described) != 1:
            raise TypeError("a type is described as no kind or as several")
        ((kind, about),) = described.items()
        if kind == "encoder":
            self._readers[number] = _bytes
        elif kind == "struct":
            fields = [(field["name"], field["id"]) for field in about["fields"]]
            self._readers[number] = self._struct(fields)
            if about["common"]["name"] == "Result":
                self._result_type = number
                self._plan = [(self._later(kind), PLACES.get(name)) for name, kind in fields]
        else:
            self._readers[number] = self._many(about["element"], about.get("key"))

    def _later(self, number: int) -> Reader:
        """The reader of a type that may be described later."""

        def read(data: bytes, at: int) -> tuple[Any, int]:
            return self._readers[number](data, at)

        return self._readers.get(number, read)

    def _result(self, message: bytes, at: int) -> Row:
        """Only the fields that are wanted; the last of them stands before the headers."""
        row: Row = [None, 0, 0, 0, "", ""]
        index = -1
        while delta := message[at]:
            index += delta
            reader, place = self._plan[index]
            value, at = reader(message, at + 1)
            if place is not None:
                row[place] = value if place else _time_ns(value)
                if place == PLACES["URL"]:
                    break
        return row

    def _struct(self, fields: Fields) -> Reader:
        def read(data: bytes, at: int) -> tuple[dict[str, Any], int]:
            values: dict[str, Any] = {}
            index = -1
            while delta := data[at]:
                index += delta
                name, number = fields[index]
                values[name], at = self._readers[number](data, at + 1)
            return values, at + 1

        return read

    def _many(self, element: int, key: int | None = None) -> Reader:
        """The reader of a slice, or of a map when there is a key, whose keys are left out."""

        def read(data: bytes, at: int) -> tuple[list[Any], int]:
            count, at = _uint(data, at)
            values = []
            for _ in range(count):
                if key is not None:
                    at = self._readers[key](data, at)[1]
                value, at = self._readers[element](data, at)
                values.append(value)
            return values, at

        return read


def _uint(data: bytes, at: int) -> tuple[int, int]:
    """A number below 128 is a byte; else the first byte is the negated count of the others."""
    first = data[at]
    if first < 128:
        return first, at + 1
    end = at + 257 - first
    if first < 248 or end > len(data):
        raise IndexError("a number is longer than its message")
    return int.from_bytes(data[at + 1 : end], "big"), end


def _int(data: bytes, at: int) -> tuple[int, int]:
    """The lowest bit says whether the others are complemented."""
    value, at = _uint(data, at)
    return (~(value >> 1) if value & 1 else value >> 1), at


def _bytes(data: bytes, at: int) -> tuple[bytes, int]:
    length, at = _uint(data, at)
    if at + length > len(data):
        raise IndexError("a text is longer than its message")
    return data[at : at + length], at + length


def _text(data: bytes, at: int) -> tuple[str, int]:
    value, at = _bytes(data, at)
    return value.decode(errors="replace"), at


def _time_ns(encoded: bytes) -> int:
    """Nanoseconds since 1970 of a time: version, seconds since the year 1, ns, zone."""
    if len(encoded) not in (15, 16) or encoded[0] not in (1, 2):
        raise TypeError("an invalid time")
    seconds = int.from_bytes(encoded[1:9], "big", signed=True) - UNIX_EPOCH_S
    return seconds * 10**9 + int.from_bytes(encoded[9:13], "big")
