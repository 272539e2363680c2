"""hey -o csv: a row for each request that was answered."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from backend.formats.hey.report import KEPT, RESOLUTION_US
from backend.formats.logs import Table
from backend.formats.model import FormatError, ParsedTrial
from backend.formats.numbers import LONGEST_S
from backend.formats.statuses import by_status, failed, succeeded
from backend.formats.text import HEAD_BYTES, Source
from backend.formats.timeline import Gathering

if TYPE_CHECKING:
    import polars as pl

TIME, STATUS, OFFSET = "response-time", "status-code", "offset"
# In lower case, for versions wrote them in both. Each version added columns; the second line has
# the spellings of 2016.
NAMES = frozenset(
    (
        *(TIME, "dns+dialup", "dns", "request-write", "response-delay", "response-read"),
        *("respone-wait", "respone-read", "response-wait", STATUS, OFFSET),
    )
)
# Before November 2016 there was no header, and each row had its number, from 1, the fastest first.
NUMBERED = f"number,{TIME}"
_NUMBERED_ROW = re.compile(r"(\d{1,9}),(\d{1,7}\.\d{4})")
FEWEST_NUMBERED, MOST_LOOKED_AT = 5, 50
_PART_OF_ROW = re.compile(r"[\d.,]+")
KINDS: dict[str, type] = {TIME: float, STATUS: int, OFFSET: float}
MOST = {TIME: LONGEST_S, STATUS: 999, OFFSET: 366 * 24 * 3600}


def header_of(source: Source) -> str | None:
    """The line with the columns of hey's CSV, or those of a CSV without that line; None when this
    is none."""
    head = source.text[:HEAD_BYTES]
    if TIME in head:
        lines = (line.strip() for line in head.split("\n"))
        return next((line for line in lines if TIME in line and _is_header(line)), None)
    return NUMBERED if head.startswith("1,") and _is_numbered(head) else None


def _is_header(line: str) -> bool:
    names = line.lower().split(",")
    return TIME in names and NAMES.issuperset(names)


def _is_numbered(head: str) -> bool:
    """Whether rows are numbered from 1 and sorted by a time of four decimals."""
    rows = head.split("\n", MOST_LOOKED_AT)[:MOST_LOOKED_AT]
    cells = [_NUMBERED_ROW.fullmatch(row.rstrip("\r")) for row in rows]
    known = list(takewhile(bool, cells))
    times = [float(row[2]) for row in known if row is not None]
    numbers = [int(row[1]) for row in known if row is not None]
    # The last one may be cut off, or the line feed behind it.
    are_all = len(known) >= len(rows) - 1
    return (
        are_all
        and len(known) >= FEWEST_NUMBERED
        and numbers == list(range(1, len(known) + 1))
        and times == sorted(times)
    )


def read_log(source: Source) -> ParsedTrial:
    """The answered requests. Failed attempts have no row: how many there were is unknown."""
    header = header_of(source) or ""
    table = Table(
        tool="hey",
        header=header,
        separator=",",
        columns={name: KINDS[name] for name in header.split(",") if name in KINDS},
        is_whole=_is_whole,
        has_header=header != NUMBERED,
    )
    requests, statuses = Gathering(), np.zeros(MOST[STATUS] + 1, dtype=np.int64)
    rests: list[str] = []
    for frame in table.frames(source, tell_cut=rests.append):
        columns = {name: _figures(name, frame[name]) for name in table.columns}
        codes = columns.get(STATUS)
        if codes is not None:
            statuses += np.bincount(codes, minlength=len(statuses))
        requests.add(
            columns[TIME] * 1e6,
            start_s=columns.get(OFFSET),
            failed=None if codes is None else codes >= 400,
        )
    if not requests.completed:
        raise FormatError(
            "The hey CSV has no rows: no request was answered, or the file is cut off.",
            found=header,
            expected=f"rows of {len(table.names)} cells",
        )
    trial = _trial(requests, by_status(statuses) if STATUS in table.columns else None)
    return replace(trial, incomplete=_is_cut(requests.completed, rests))


def _is_cut(count: int, rests: Sequence[str]) -> bool:
    """Whether hey kept no more rows, or a part of a row stands behind the last one."""
    return count >= KEPT or any(map(_PART_OF_ROW.fullmatch, rests))


def _is_whole(row: str) -> bool:
    """Whether the last cell has all its digits: four decimals, or the three of a status."""
    cell = row.rstrip("\r").rpartition(",")[2]
    digits, point, decimals = cell.partition(".")
    return len(decimals) == 4 if point else len(digits) == 3


def _figures(name: str, column: pl.Series) -> NDArray[Any]:
    figures = column.to_numpy()
    highest = MOST[name]
    if column.null_count() or not (figures.min() >= 0 and figures.max() <= highest):
        raise FormatError(
            f"The hey CSV has an impossible {name}.",
            found=f"{figures.min()} to {figures.max()}",
            expected=f"in each row a number from 0 to {highest}",
        )
    return figures


def _trial(requests: Gathering, statuses: Mapping[str, int] | None) -> ParsedTrial:
    return ParsedTrial(
        requests_completed=requests.completed,
        requests_ok=None if statuses is None else succeeded(statuses),
        errors={"status": None if statuses is None else failed(statuses)},
        lists_answers_only=True,
        status_counts=statuses,
        **requests.sampled(RESOLUTION_US),
    )
