"""h2load's --log-file: a row per request, without a header."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from backend.formats.logs import Table, ahead, line_chunks
from backend.formats.model import FormatError, ParsedTrial
from backend.formats.numbers import LONGEST_S
from backend.formats.statuses import by_status, succeeded
from backend.formats.text import HEAD_BYTES, Source
from backend.formats.timeline import Gathering

if TYPE_CHECKING:
    import polars as pl

REQUESTS = Table(
    tool="h2load",
    header="start\tstatus\ttime",
    separator="\t",
    columns={"start": int, "status": int, "time": int},
)
# Of Unix time in µs, from 2001 on.
START_DIGITS = 16
HIGHEST_STATUS = 999
LONGEST_US = LONGEST_S * 1_000_000
FIRST_LINES = 10


def first_row(source: Source) -> int | None:
    """The number of the line with the first row of a log; None if this is not one."""
    lines = source.text[:HEAD_BYTES].split("\n", FIRST_LINES)[:FIRST_LINES]
    numbered = enumerate(lines, source.artefact.first_line)
    return next((number for number, line in numbered if _is_row(line.split())), None)


def _is_row(words: list[str]) -> bool:
    if len(words) != 3 or not all(word.isascii() for word in words):
        return False
    start, status, time = words
    is_status = status == "-1" or (len(status) == 3 and status.isdigit())
    return len(start) == START_DIGITS and start.isdigit() and is_status and time.isdigit()


def read_log(source: Source) -> ParsedTrial:
    """Every request: start, status (-1 of one that failed) and time, in order of their ends."""
    requests, statuses = Gathering(), np.zeros(HIGHEST_STATUS + 2, dtype=np.int64)
    rows = _Rows(source)
    for number, frame in ahead(rows.frames()):
        _add(requests, statuses, number, frame)
    if not statuses.any():
        raise FormatError(
            "The h2load log has no row.", expected="rows of three cells, tabs between"
        )
    return replace(_trial(requests, statuses), incomplete=rows.is_cut)


class _Rows:
    """The rows of one log, a chunk at a time."""

    def __init__(self, source: Source) -> None:
        self.source = source
        # A last row was cut off and is left out.
        self.is_cut = False

    def frames(self) -> Iterator[tuple[int, pl.DataFrame]]:
        """Frames of REQUESTS with the number of their first line."""
        for first, chunk in line_chunks(self.source):
            # A row without its line feed may lack digits of its time.
            self.is_cut = not chunk.endswith(b"\n") and _may_be_row(chunk)
            number, rows = _between_prompts(first, chunk)
            if rows and not self.is_cut:
                yield number, REQUESTS.read_rows(number, _with_tabs(rows))


def _with_tabs(rows: bytes) -> bytes:
    """Rows with tabs, which became spaces in some texts."""
    if b"\t" in rows:
        return rows
    return b"\n".join(b"\t".join(line.split()) for line in rows.rstrip().split(b"\n"))


def _may_be_row(line: bytes) -> bool:
    """Whether a line is a row or was one before it was damaged: no prompt, no command."""
    return b"\t" in line or line.lstrip()[:10].isdigit()


def _between_prompts(number: int, rows: bytes) -> tuple[int, bytes]:
    """The rows without the lines around them that are none, and the number of the first.

    The same bytes, uncopied, where there are no such lines.
    """
    begin, end = 0, len(rows)
    while begin < end and not _may_be_row(rows[begin : (stop := _line_end(rows, begin))]):
        number, begin = number + 1, stop
    while begin < end and not _may_be_row(rows[(start := _last_line(rows, begin, end)) : end]):
        end = start
    own_rows = rows[begin:end]
    return number, own_rows.rstrip() if own_rows[-2:-1].isspace() else own_rows


def _line_end(rows: bytes, begin: int) -> int:
    return rows.find(b"\n", begin) + 1 or len(rows)


def _last_line(rows: bytes, begin: int, end: int) -> int:
    """Where the line begins that ends at `end`."""
    return rows.rfind(b"\n", begin, end - 1) + 1 or begin


def _add(requests: Gathering, statuses: Any, number: int, frame: pl.DataFrame) -> None:
    start, status, time = (frame[name] for name in REQUESTS.names)
    if sum(column.null_count() for column in (start, status, time)):
        raise _bad("an empty cell", number)
    codes, times = status.to_numpy(), time.to_numpy()
    if codes.min() < -1 or codes.max() > HIGHEST_STATUS:
        raise _bad(f"status {codes.min()} to {codes.max()}", number)
    if times.min() < 0 or times.max() > LONGEST_US:
        raise _bad(f"a time of {times.min()} to {times.max()} µs", number)
    statuses += np.bincount(codes + 1, minlength=len(statuses))
    requests.add(
        times, start_s=start.to_numpy() / 1e6, failed=~_is_success(codes), responded=codes >= 0
    )


def _is_success(codes: Any) -> Any:
    return (codes >= 200) & (codes < 400)


def _bad(found: str, line: int) -> FormatError:
    return FormatError(
        "The h2load log has a damaged row below this line.",
        line=line,
        found=found,
        expected="start in µs, status (-1 of a failed request), time in µs",
    )


def _trial(requests: Gathering, statuses: Any) -> ParsedTrial:
    counts = by_status(statuses[1:])
    ok = succeeded(counts)
    return ParsedTrial(
        elapsed_s=requests.elapsed_s(6),
        requests_completed=requests.completed,
        requests_ok=ok,
        errors={"status": requests.completed - ok, "other": int(statuses[0])},
        status_counts=counts,
        extra={"samples_with_status": requests.completed},
        **requests.sampled(1, samples=int(statuses.sum())),
    )
