"""HistogramLogWriter's log: a row for each interval, with its start, length and histogram."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from backend.formats.hdrhistogram.encoded import Integers, Recorded, decode
from backend.formats.hdrhistogram.unit import stated_unit_us
from backend.formats.logs import line_chunks
from backend.formats.model import FormatError, ParsedTrial, TimeSlice
from backend.formats.numbers import parse_number
from backend.formats.text import Line, Source, is_prompt
from backend.stats import Histogram

HEAD = "#[Histogram log format version"
LEGEND = "Interval_Compressed_Histogram"
PERCENTILES = (50, 75, 90, 99, 99.9)
# A day of seconds: a longer log is kept without a time series.
MOST_INTERVALS = 86_400
# Positions kept before they are counted together.
MOST_KEPT = 1 << 20


@dataclass(frozen=True, slots=True)
class _Row:
    """One interval: seconds of the log's clock, its tag, and what was recorded."""

    start_s: float
    length_s: float
    tag: str | None
    recorded: Recorded


def is_log_line(line: Line) -> bool:
    """Whether only a histogram log has such a line."""
    return line.text.startswith(HEAD) or LEGEND in line.text or _cells(line) is not None


def read_log(source: Source) -> ParsedTrial:
    """The log as one trial; raises FormatError for a row that is damaged, or if there is none.

    A last row that is cut off is left out, and the trial incomplete.
    """
    unit_us = stated_unit_us(line for line in source.lines if line.text.startswith("#"))
    sums = _Sums(unit_us)
    is_cut, last = False, Line(1, "")
    for line, is_whole in _lines(source):
        last = line if line.text else last
        if not _is_row(line):
            continue
        try:
            sums.add(_row(line))
        except FormatError:
            if is_whole:
                raise
            is_cut = True
    if not sums.rows:
        raise _damaged(last, "The histogram log has no whole interval.")
    return sums.trial(is_cut=is_cut)


def _lines(source: Source) -> Iterator[tuple[Line, bool]]:
    """Every line, and whether its end is there."""
    if not source.is_log:
        last = source.lines[-1].number
        yield from ((line, line.number < last) for line in source.lines)
        return
    for first, chunk in line_chunks(source):
        for position, raw in enumerate(chunk.split(b"\n")):
            text = raw.decode(errors="replace").strip()
            yield Line(first + position, text), chunk.endswith(b"\n")


def _is_row(line: Line) -> bool:
    return bool(line.text) and not line.text.startswith(("#", '"')) and not is_prompt(line.text)


def _cells(line: Line) -> list[str] | None:
    cells = line.text.split(",")
    cells = cells if cells[0].startswith("Tag=") else ["", *cells]
    return cells if len(cells) == 5 and cells[4].startswith("HIST") else None


def _row(line: Line) -> _Row:
    cells = _cells(line)
    if cells is None:
        raise _damaged(line)
    start, length = parse_number(cells[1]), parse_number(cells[2])
    if start is None or length is None:
        raise _damaged(line)
    try:
        recorded = decode(cells[4])
    except ValueError:
        raise _damaged(line) from None
    return _Row(start, length, cells[0].removeprefix("Tag=") or None, recorded)


def _damaged(line: Line, reason: str = "The histogram log has a damaged row.") -> FormatError:
    return line.refusal(
        reason, expected="start, length, maximum and a compressed histogram, between commas"
    )


@dataclass
class _Sums:
    """Rows added one by one, in memory that does not grow with what they recorded."""

    unit_us: float | None
    rows: int = 0
    tags: dict[str, int] = field(default_factory=dict)
    slices: dict[tuple[float, float], TimeSlice] = field(default_factory=dict)
    first_s: float = float("inf")
    last_s: float = 0.0
    _values: list[Integers] = field(default_factory=list)
    _counts: list[Integers] = field(default_factory=list)
    _kept: int = 0

    def add(self, row: _Row) -> None:
        self.rows += 1
        self.first_s = min(self.first_s, row.start_s)
        self.last_s = max(self.last_s, row.start_s + row.length_s)
        if row.tag is not None:
            self.tags[row.tag] = self.tags.get(row.tag, 0) + row.recorded.total
        self._values.append(row.recorded.values)
        self._counts.append(row.recorded.counts)
        self._kept += len(row.recorded.values)
        if self._kept > MOST_KEPT:
            self._merged()
        if len(self.slices) <= MOST_INTERVALS:
            self._add_slice(row)

    def _add_slice(self, row: _Row) -> None:
        """The interval; those of several tags over the same time are one."""
        key = (row.start_s, row.length_s)
        before = self.slices.get(key)
        parts = [self._histogram(row.recorded)] if self.unit_us is not None else []
        if before is not None and before.histogram:
            parts.append(Histogram.decode(before.histogram))
        self.slices[key] = TimeSlice(
            start_s=row.start_s,
            length_s=row.length_s,
            completed=row.recorded.total + (before.completed or 0 if before else 0),
            histogram=Histogram.merge_all(parts).encode() or None,
        )

    def _histogram(self, recorded: Recorded) -> Histogram:
        return Histogram.from_counts(recorded.values * (self.unit_us or 0.0), recorded.counts)

    def _merged(self) -> Recorded:
        values, inverse = np.unique(np.concatenate(self._values), return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, inverse, np.concatenate(self._counts))
        self._values, self._counts, self._kept = [values], [counts], len(values)
        return Recorded(values, counts)

    def trial(self, *, is_cut: bool) -> ParsedTrial:
        merged = self._merged()
        has_unit = self.unit_us is not None
        return ParsedTrial(
            loop=None,
            elapsed_s=round(self.last_s - self.first_s, 6),
            requests_completed=merged.total,
            latency_origin="histogram" if has_unit else None,
            latency_resolution_us=max(1.0, self.unit_us or 0.0) if has_unit else None,
            histogram=self._histogram(merged) if has_unit else None,
            timeline=self._timeline(),
            incomplete=is_cut,
            extra={
                "spectrum": _figures(merged),
                **({"tags": self.tags} if self.tags else {}),
            },
        )

    def _timeline(self) -> tuple[TimeSlice, ...]:
        if len(self.slices) > MOST_INTERVALS:
            return ()
        return tuple(
            TimeSlice(
                start_s=round(part.start_s - self.first_s, 6),
                length_s=part.length_s,
                completed=part.completed,
                histogram=part.histogram,
            )
            for part in sorted(self.slices.values(), key=lambda part: part.start_s)
        )


def _figures(merged: Recorded) -> dict[str, Any]:
    """Of all intervals together, in the log's own unit."""
    reached = np.cumsum(merged.counts)
    return {
        "total_count": merged.total,
        "max": int(merged.values[-1]) if merged.total else None,
        **{f"p{p:g}_value": _at(merged.values, reached, p) for p in PERCENTILES},
    }


def _at(values: Integers, reached: Sequence[int] | Integers, percent: float) -> int | None:
    """As HdrHistogram itself says it: the rank is rounded, half up."""
    if not len(values):
        return None
    rank = max(1, int(percent * int(reached[-1]) / 100 + 0.5))
    return int(values[int(np.searchsorted(reached, rank))])
