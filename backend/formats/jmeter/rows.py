"""The rows of a JTL as CSV, as frames of the columns that are wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from backend.formats.jmeter.layout import Layout, is_stamp
from backend.formats.logs import LONGEST_LINE_BYTES, count_of, line_chunks, without_blank_end
from backend.formats.model import FormatError
from backend.formats.text import Source

if TYPE_CHECKING:
    import polars as pl

# Twice the usual: rows are long, and each chunk has a fixed cost.
CHUNK_BYTES = 8 << 20
NUMBERS = frozenset(("elapsed", "bytes", "SampleCount"))
WANTED = frozenset(
    (
        *("timeStamp", "elapsed", "label", "responseCode", "responseMessage", "success"),
        *("failureMessage", "bytes", "URL", "SampleCount"),
    )
)
DATE_FORMATS = (
    "%Y/%m/%d %H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.fZ",
    "%Y/%m/%d %H:%M:%S,%3f",
    "%Y-%m-%d %H:%M:%S,%3f",
    "%d.%m.%Y %H:%M:%S%.f",
    "%m/%d/%y %H:%M:%S",
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows read together: the line of the first, the wanted columns, and a way to the threads."""

    line: int
    frame: pl.DataFrame
    threads: Callable[[], pl.Series | None]


class Rows:
    """The rows of one JTL, a chunk at a time."""

    def __init__(self, source: Source, layout: Layout) -> None:
        self.source, self.layout = source, layout
        self.width = len(layout.names)
        self.delimiter = layout.delimiter.encode()
        # A last row was cut off and is left out.
        self.is_cut = False
        self.date_format = _date_format(layout.stamp)
        # Without a message, a transaction is known by these two.
        self.more = () if "responseMessage" in layout.names else ("dataType",)

    def frames(self) -> Iterator[Chunk]:
        """Frames with the number of their first line; `timeStamp` is whole ms since 1970.

        Raises FormatError for a row that does not fit.
        """
        for number, rows in self._chunks():
            begun = rows
            if number < self.layout.first_line:
                skipped = self.layout.first_line - number
                number = self.layout.first_line  # noqa: PLW2901
                before = rows.split(b"\n", skipped)
                begun = before.pop() if len(before) > skipped else b""
                self._refuse_rows_among(before)
            if not begun.endswith(b"\n") and not self._is_believed(begun):
                self.is_cut = self.is_cut or bool(begun.strip())
            elif begun and not begun.isspace():
                whole_rows = without_blank_end(begun)
                yield Chunk(
                    number, self._read(number, whole_rows), partial(self._threads, whole_rows)
                )

    def _refuse_rows_among(self, before: Sequence[bytes]) -> None:
        """What stands before the rows is passed over, unless it is a row that was damaged."""
        if self.layout.has_header:
            return
        for number, line in enumerate(before, self.source.artefact.first_line):
            if 2 * line.count(self.delimiter) >= self.width:
                raise self.bad_row(number, line)

    def _chunks(self) -> Iterator[tuple[int, bytes]]:
        """Whole rows: a chunk that ends within a quoted cell gives its last row to the next."""
        at, rest = 1, b""
        for number, chunk in line_chunks(self.source, size=CHUNK_BYTES):
            at = at if rest else number
            data = rest + chunk
            end = _end_of_rows(data) if b'"' in data else len(data)
            if end:
                yield at, data if end == len(data) else data[:end]
            rest = data[end:]
            if rest:
                at += data.count(b"\n", 0, end)
            if len(rest) > LONGEST_LINE_BYTES:
                raise self._open_quote(at, rest)
        if rest:
            self._leave_out(at, rest)

    def _leave_out(self, number: int, rest: bytes) -> None:
        """The last row, cut off in a quoted cell; refused if the cell swallowed other rows."""
        for line in rest.split(b"\n")[1:]:
            if is_stamp(line.partition(self.delimiter)[0].decode(errors="replace")):
                raise self._open_quote(number, rest)
        self.is_cut = True

    def _open_quote(self, number: int, rest: bytes) -> FormatError:
        return FormatError(
            "The JMeter JTL has a quoted cell that is not closed.",
            line=number,
            found=rest[:200].decode(errors="replace").split("\n", maxsplit=1)[0],
            expected='a " at the end of the cell',
        )

    def _is_believed(self, row: bytes) -> bool:
        """Whether a last row without its line feed has all wanted columns whole."""
        if self._separators(row) != self.width - 1:
            return False
        last = self.layout.names[-1]
        ends = row.endswith((b"true", b"false")) if last == "success" else False
        return last not in WANTED or ends

    def _separators(self, rows: bytes) -> int:
        if b'"' not in rows:
            return count_of(self.delimiter, rows)
        delimiters, quotes = _positions(rows, self.delimiter), _positions(rows, b'"')
        return int((np.searchsorted(quotes, delimiters) % 2 == 0).sum())

    def _read(self, number: int, rows: bytes) -> pl.DataFrame:
        # polars takes most of a second to import, and most uploads are small texts.
        import polars as pl

        try:
            frame = self._collect(rows)
        except (pl.exceptions.PolarsError, ValueError):
            raise self.bad_row(number, rows) from None
        # polars passes over cells that are too many, where two rows ran into one.
        has_other_width = self._separators(rows) != (self.width - 1) * len(frame)
        if has_other_width or frame["elapsed"].null_count() or _stamps_missing(frame):
            raise self.bad_row(number, rows)
        return frame

    def _collect(self, rows: bytes) -> pl.DataFrame:
        names = self.layout.names
        is_date = self.date_format is not None or not self.layout.stamp.isdigit()
        numbers = NUMBERS if is_date else NUMBERS | {"timeStamp"}
        wanted = [name for name in names if name in WANTED or name in self.more]
        frame = self._scan(rows, numbers).select(wanted).collect()
        return self._with_dates(frame) if is_date and "timeStamp" in names else frame

    def _scan(self, rows: bytes, numbers: frozenset[str]) -> pl.LazyFrame:
        import polars as pl

        return pl.scan_csv(
            rows,
            separator=self.layout.delimiter,
            has_header=False,
            schema={name: pl.Int64 if name in numbers else pl.String for name in self.layout.names},
            quote_char='"',
        )

    def _threads(self, rows: bytes) -> pl.Series | None:
        """The thread of each row, which is seldom asked for."""
        if "threadName" not in self.layout.names:
            return None
        return self._scan(rows, frozenset()).select("threadName").collect()["threadName"]

    def _with_dates(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Dates as ms since 1970; without the column where the pattern is not known."""
        if self.date_format is None:
            return frame.drop("timeStamp")
        dates = frame["timeStamp"].str.to_datetime(self.date_format, time_unit="ms", strict=True)
        return frame.with_columns(dates.dt.epoch("ms").alias("timeStamp"))

    def bad_row(self, number: int, rows: bytes) -> FormatError:
        """What is wrong with the first row that does not fit."""
        line, damaged = number, rows.split(b"\n", maxsplit=1)[0]
        for position, row in enumerate(rows.split(b"\n")):
            if row.strip() and b'"' not in row and not self._fits(row):
                line, damaged = number + position, row
                break
        return FormatError(
            "The JMeter JTL has a damaged row.",
            line=line,
            found=damaged.decode(errors="replace").rstrip("\r"),
            expected=f"{self.width} cells: {self.layout.delimiter.join(self.layout.names)}",
        )

    def _fits(self, row: bytes) -> bool:
        cells = row.decode(errors="replace").rstrip("\r").split(self.layout.delimiter)
        if len(cells) != self.width:
            return False
        named: dict[str, Any] = dict(zip(self.layout.names, cells, strict=True))
        stamp = named.get("timeStamp", "0")
        is_stamped = stamp.isdigit() if self.layout.stamp.isdigit() else is_stamp(stamp)
        return is_stamped and all(named[name].isdigit() for name in NUMBERS & named.keys())


def _stamps_missing(frame: pl.DataFrame) -> bool:
    return "timeStamp" in frame.columns and bool(frame["timeStamp"].null_count())


def _date_format(stamp: str) -> str | None:
    """The pattern of a date; None for ms, and for what no pattern here reads."""
    if not stamp or stamp.isdigit() or not is_stamp(stamp):
        return None
    import polars as pl

    dates = pl.Series([stamp])
    for pattern in DATE_FORMATS:
        if not dates.str.to_datetime(pattern, time_unit="ms", strict=False).null_count():
            return pattern
    return None


def _positions(data: bytes, mark: bytes) -> Any:
    return np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == mark[0])


def _end_of_rows(data: bytes) -> int:
    """Behind the last line feed that is not within quotes; all of it at the end of a file."""
    quotes, feeds = _positions(data, b'"'), _positions(data, b"\n")
    if not data.endswith(b"\n") and len(quotes) % 2 == 0:
        return len(data)
    outside = feeds[np.searchsorted(quotes, feeds) % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0
