"""Which columns a JTL as CSV has: by its header, or by what is in its rows."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from backend.formats.text import HEAD_BYTES, Source

# As JMeter writes them (CSVSaveService); any may be left out, the order of the rest stays.
KNOWN = frozenset(
    (
        *("timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName"),
        *("dataType", "success", "failureMessage", "bytes", "sentBytes", "grpThreads"),
        *("allThreads", "URL", "Filename", "Latency", "Encoding", "SampleCount", "ErrorCount"),
        *("Hostname", "IdleTime", "Connect"),
    )
)
# Lines looked at for a header (prompts may stand before it), and rows to tell columns by.
HEAD_LINES, HEAD_ROWS = 30, 50
DELIMITERS = (",", "\t", ";", "|")
NO_HTTP = "Non HTTP response code"
DATA_TYPES = frozenset(("text", "bin", ""))

Column = Sequence[str]


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a JTL, and the line (from 1) of its first row."""

    names: Sequence[str]
    delimiter: str
    first_line: int
    has_header: bool
    # The first row's time stamp as written: ms since 1970, or a date.
    stamp: str


def layout_of(source: Source) -> Layout | None:
    """How the JTL is laid out; None where this is no JTL as CSV."""
    layout = _layout_in(source.text[:HEAD_BYTES].split("\n"))
    above = source.artefact.first_line - 1
    return None if layout is None else replace(layout, first_line=layout.first_line + above)


def _layout_in(lines: Column) -> Layout | None:
    for position, line in enumerate(lines[:HEAD_LINES]):
        if "elapsed" in line:
            delimiter, names = _header(line)
            if names:
                return _laid_out(lines, position + 1, delimiter, names)
        elif line[:1].isdigit():
            for delimiter in DELIMITERS:
                guessed = _columns_of(lines[position : position + HEAD_ROWS], delimiter)
                if guessed:
                    return _laid_out(lines, position, delimiter, guessed)
    return None


def _laid_out(lines: Column, first: int, delimiter: str, names: Column) -> Layout:
    cells = _cells(next((line for line in lines[first:] if line.strip()), ""), delimiter)
    at = names.index("timeStamp") if "timeStamp" in names else len(cells)
    stamp = cells[at] if at < len(cells) else ""
    return Layout(names, delimiter, first + 1, "elapsed" in lines[first - 1], stamp)


def _header(line: str) -> tuple[str, Column]:
    line = line.strip("\r ")
    delimiter = next((mark for mark in line if not mark.isalnum() and mark not in '_"'), ",")
    names = _cells(line, delimiter)
    columns = KNOWN.intersection(names)
    is_one = len(set(names)) == len(names) and len(columns) >= 4 and "elapsed" in columns
    return delimiter, names if is_one else ()


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])
    except (csv.Error, TypeError, ValueError):
        return []


def _columns_of(lines: Column, delimiter: str) -> Column:
    """The columns of rows without a header; none where this is no JTL."""
    first = _cells(lines[0], delimiter)
    if not _begins_row(first):
        return ()
    rows = [cells for line in lines if len(cells := _cells(line, delimiter)) == len(first)]
    columns = list(zip(*rows, strict=True))
    code = _first(columns[:4], _are_codes)
    success = _first(columns, lambda cells: set(cells) <= {"true", "false"})
    if code is None or success is None or code > success:
        return ()
    between = _text_columns(columns[code + 1 : success])
    if between is None:
        return ()
    label = ["label"] if code == 3 else []
    names = ["timeStamp", "elapsed", *label, "responseCode", *between, "success"]
    return names + _columns_behind(columns[success + 1 :])


def _begins_row(cells: Column) -> bool:
    return len(cells) >= 6 and is_stamp(cells[0]) and cells[1].isdigit()


def _first(columns: Sequence[Column], fits: Callable[[Column], bool]) -> int | None:
    return next((at for at, cells in enumerate(columns) if at >= 2 and fits(cells)), None)


def is_stamp(cell: str) -> bool:
    """Whether a cell may be a time stamp: ms since 1970, or a date with a time."""
    if cell.isdigit():
        return 12 <= len(cell) <= 14
    return ":" in cell and 12 <= sum(map(str.isdigit, cell)) <= 20 and len(cell) <= 32


def _are_codes(cells: Column) -> bool:
    return any(cells) and all(
        not cell or cell.startswith(NO_HTTP) or (cell.isdigit() and len(cell) == 3)
        for cell in cells
    )


def _text_columns(columns: Sequence[Column]) -> list[str] | None:
    """The names of the columns between code and success; None if they are too many."""
    kinds = ["dataType"] if columns and set(columns[-1]) <= DATA_TYPES else []
    rest = columns[: len(columns) - len(kinds)]
    threads = ["threadName"] if rest and all(_is_thread(cell) for cell in rest[-1]) else []
    messages = ["responseMessage"] * (len(rest) - len(threads))
    return [*messages, *threads, *kinds] if len(messages) <= 1 else None


def _is_thread(cell: str) -> bool:
    group, dash, number = cell.rpartition("-")
    return bool(dash) and number.isdigit() and group[-1:].isdigit()


def _columns_behind(columns: Sequence[Column]) -> list[str]:
    """The names of the columns behind success; "?" and a number for what cannot be told."""
    names = list(map("?{}".format, range(len(columns))))
    numeric = [all(map(str.isdigit, cells)) for cells in columns]
    begin = 0
    if columns and not numeric[0]:
        names[0], begin = "failureMessage", 1
    count = len(list(takewhile(bool, numeric[begin:])))
    end = begin + count
    # bytes, sentBytes, grpThreads, allThreads: of fewer numbers it is not known which they are.
    if count >= 4 or (count == 2 and end == len(columns)):
        names[begin] = "bytes"
    if end < len(columns) and all(map(_is_address, columns[end])):
        names[end] = "URL"
    return names


def _is_address(cell: str) -> bool:
    return "://" in cell or cell == "null"
