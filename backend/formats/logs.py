"""Logs of every request, larger than memory: read in chunks of whole lines, column by column."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, TypeVar

import numpy as np

from backend.formats.decoding import UTF16_MARKS
from backend.formats.model import FormatError
from backend.formats.text import Source

if TYPE_CHECKING:
    import polars as pl

CHUNK_BYTES = 4 << 20
LONGEST_LINE_BYTES = 1 << 20
Item = TypeVar("Item")
BOM = b"\xef\xbb\xbf"


def count_of(mark: bytes, data: bytes) -> int:
    """How often a byte stands in the data: faster than `bytes.count` where it is frequent."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == mark[0]))


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items; a thread makes the next item while the caller uses the last."""
    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(next, items, None)
        while (item := pending.result()) is not None:
            pending = pool.submit(next, items, None)
            yield item


def line_chunks(source: Source, *, size: int = CHUNK_BYTES) -> Iterator[tuple[int, bytes]]:
    """Whole lines, about `size` bytes at a time, each with the number of its first line.

    A last line without its line feed, which may be cut off, comes alone, as the last chunk.
    UTF-16 arrives as UTF-8, a byte order mark not at all. Raises FormatError for a line longer
    than LONGEST_LINE_BYTES.
    """
    number, rest = source.artefact.first_line, b""
    with source.artefact.open() as stream:
        for piece in _pieces(stream, size):
            data = rest + piece if rest else piece
            end = data.rfind(b"\n") + 1
            if end:
                whole, rest = data[:end], data[end:]
                yield number, whole
                number += count_of(b"\n", whole)
            else:
                rest = data
            if len(rest) > LONGEST_LINE_BYTES:
                raise FormatError(
                    "A line of this log is too long.",
                    line=number,
                    found=rest[:80].decode(errors="replace"),
                    expected=f"lines of at most {LONGEST_LINE_BYTES:,} bytes",
                )
    if rest:
        yield number, rest


def _pieces(stream: BinaryIO, size: int) -> Iterator[bytes]:
    first = stream.read(size)
    if first.startswith(UTF16_MARKS):
        decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
        while first:
            yield decoder.decode(first).encode()
            first = stream.read(size)
        return
    yield _to_line_end(first.removeprefix(BOM), stream)
    while piece := stream.read(size):
        yield _to_line_end(piece, stream)


def _to_line_end(piece: bytes, stream: BinaryIO) -> bytes:
    """A piece with the rest of its last line, so that no remainder is copied to the next piece."""
    return piece if piece.endswith(b"\n") else piece + stream.readline(LONGEST_LINE_BYTES)


def without_blank_end(rows: bytes) -> bytes:
    """Rows without blank lines behind the last one; the same bytes, uncopied, in most cases."""
    last = rows.rfind(b"\n", 0, -1) + 1
    return rows if rows[last:].strip(b"\r\n") else rows.rstrip(b"\r\n")


@dataclass(frozen=True, slots=True)
class Table:
    """A log with a row per request, below a header line unless `has_header` is false.

    `columns` are the names of the header that are wanted, as int, float or str; an empty cell of
    a number is null. `header` has all names, with `separator` between them. `is_whole` says of a
    last row without its line feed whether it is whole; without it, one with all cells is.
    """

    tool: str
    header: str
    separator: str
    columns: Mapping[str, type]
    is_whole: Callable[[str], bool] | None = None
    has_header: bool = True

    @property
    def names(self) -> list[str]:
        return self.header.split(self.separator)

    def frames(
        self, source: Source, *, tell_cut: Callable[[str], None] | None = None
    ) -> Iterator[pl.DataFrame]:
        """The wanted columns of the rows behind the header, a chunk at a time, read ahead.

        Lines before the header (a prompt, a command) are passed over. A last row that is cut off
        is left out when it has too few cells; `tell_cut` gets it, or a prompt that stands there.
        Raises FormatError for a row that does not fit, with its line, what was found and what was
        expected.
        """
        yield from ahead(self._frames(source, tell_cut))

    def _frames(
        self, source: Source, tell_cut: Callable[[str], None] | None
    ) -> Iterator[pl.DataFrame]:
        for number, rows, is_whole in self._rows(source):
            if is_whole and rows:
                yield self.read_rows(number, rows)
            elif not is_whole and tell_cut is not None:
                tell_cut(rows.decode(errors="replace"))

    def _rows(self, source: Source) -> Iterator[tuple[int, bytes, bool]]:
        """The rows, the number of the first, and whether they are whole."""
        begun = not self.has_header
        for number, chunk in line_chunks(source):
            at, rows = (number, chunk) if begun else self._behind_header(number, chunk)
            begun = begun or at > number
            if not begun:
                continue
            is_whole = chunk.endswith(b"\n") or self._is_believed(rows)
            yield at, without_blank_end(rows) if is_whole else rows, is_whole

    def _is_believed(self, row: bytes) -> bool:
        """Whether the last row, which has no line feed, is taken for a whole one."""
        if self._cells(row) < len(self.names) - 1:
            return False
        return self.is_whole is None or self.is_whole(row.decode(errors="replace"))

    def _behind_header(self, number: int, chunk: bytes) -> tuple[int, bytes]:
        """The rows behind the header line, with the first one's number; none without a header."""
        begin, passed = 0, 1
        while begin < len(chunk):
            end = chunk.find(b"\n", begin) + 1 or len(chunk)
            if chunk[begin:end].decode(errors="replace").strip() == self.header:
                return number + passed, chunk[end:]
            begin, passed = end, passed + 1
        return number, chunk

    def _cells(self, rows: bytes) -> int:
        return count_of(self.separator.encode(), rows)

    def read_rows(self, number: int, rows: bytes) -> pl.DataFrame:
        """The wanted columns of rows without a header, of which the first is line `number`."""
        # polars takes most of a second to import, and most uploads are small texts.
        import polars as pl

        kinds = {int: pl.Int64, float: pl.Float64, str: pl.String}
        frame = pl.scan_csv(
            rows,
            separator=self.separator,
            has_header=False,
            schema={name: kinds[self.columns.get(name, str)] for name in self.names},
            quote_char='"' if self.separator == "," else None,
        )
        try:
            read = frame.select(list(self.columns)).collect()
        except (pl.exceptions.PolarsError, ValueError) as wrong:
            raise self._bad_row(number, rows, str(wrong)) from None
        # polars passes over cells that are too many, where two rows ran into one.
        if b'"' not in rows and self._cells(rows) != (len(self.names) - 1) * len(read):
            raise self._bad_row(number, rows, "cells too few or too many")
        return read

    def _bad_row(self, number: int, rows: bytes, fault: str) -> FormatError:
        expected = f"{len(self.names)} cells: {self.header}"
        for position, raw in enumerate(rows.split(b"\n")):
            line = raw.decode(errors="replace").rstrip("\r")
            if line and not self._fits(line.split(self.separator)):
                return FormatError(
                    f"The {self.tool} log has a damaged row.",
                    line=number + position,
                    found=line,
                    expected=expected,
                )
        return FormatError(
            f"The {self.tool} log has rows that cannot be read.",
            line=number,
            found=fault.split("\n", maxsplit=1)[0],
            expected=expected,
        )

    def _fits(self, cells: Sequence[str]) -> bool:
        if len(cells) != len(self.names):
            return False
        named = dict(zip(self.names, cells, strict=True))
        try:
            for name, kind in self.columns.items():
                kind(named[name] or 0)
        except ValueError:
            return False
        return True
