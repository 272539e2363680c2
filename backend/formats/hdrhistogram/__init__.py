"""HdrHistogram's own files (.hgrm percentile distributions, interval logs of HistogramLogWriter).

Loop: unknown. Latency unit: not in the files (nanoseconds and microseconds are both usual), so the
figures are kept in the file's own unit beside the trial and never become latencies. Success:
unknown; every recorded value counts as a completed request. Percentiles: HdrHistogram's, the
highest value equivalent to the one at the rank. An interval log gives counts over time.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from hdrh.histogram import HdrHistogram

from backend.formats.model import FormatError, ParsedTrial, TimeSlice
from backend.formats.spectrum import is_header, read_spectrum
from backend.formats.text import Line, Source, number

NAME = "hdrhistogram"
MARKS = ("1/(1-Percentile)", "Histogram log format", "Interval_Compressed_Histogram")
LEGEND = "Interval_Compressed_Histogram"
LOG_HEAD = "#[Histogram log format version"
PERCENTILES = (50, 75, 90, 99, 99.9)


def claims(source: Source) -> str | None:
    """Why this is HdrHistogram's own file, or None."""
    if "HdrHistogram - " in source.text:
        return None  # wrk2's, which prints such a distribution in its report
    for line in source.lines:
        if line.text.startswith(LOG_HEAD) or LEGEND in line.text:
            return f"line {line.number} is the head of a histogram log"
        if is_header(line):
            return f"line {line.number} is the head of a percentile distribution"
    return None


def read(sources: Sequence[Source]) -> list[ParsedTrial | FormatError]:
    """A trial for each distribution and for each log."""
    return [_read_or_refuse(source) for source in sources]


def _read_or_refuse(source: Source) -> ParsedTrial | FormatError:
    try:
        is_log = any(line.text.startswith(LOG_HEAD) or LEGEND in line.text for line in source.lines)
        return _log(source.lines) if is_log else _distribution(source.lines)
    except FormatError as refused:
        return refused


def _distribution(lines: Sequence[Line]) -> ParsedTrial:
    start = next(at for at, line in enumerate(lines) if is_header(line))
    spectrum = read_spectrum(lines[start:], tool=NAME)
    return ParsedTrial(
        tool=NAME,
        loop=None,
        requests_completed=spectrum.total,
        extra={"spectrum": spectrum.as_dict(unit=1, suffix="")},
    )


def _log(lines: Sequence[Line]) -> ParsedTrial:
    intervals = [_interval(line) for line in lines if _is_row(line)]
    if not intervals:
        raise FormatError(
            "The histogram log has no interval.",
            tool=NAME,
            line=lines[-1].number,
            found=lines[-1].text,
            expected="rows of start, length, maximum and a compressed histogram",
        )
    merged: Any = HdrHistogram(1, 2**53, 3)
    for _, histogram in intervals:
        merged.add(histogram)
    first = min(part.start_s for part, _ in intervals)
    parts = sorted((part for part, _ in intervals), key=lambda part: part.start_s)
    return ParsedTrial(
        tool=NAME,
        loop=None,
        elapsed_s=round(max(part.start_s + part.length_s for part in parts) - first, 6),
        requests_completed=sum(part.completed or 0 for part in parts),
        timeline=tuple(
            TimeSlice(
                start_s=round(part.start_s - first, 6),
                length_s=part.length_s,
                completed=part.completed,
            )
            for part in parts
        ),
        extra={"spectrum": _figures(merged)},
    )


def _figures(merged: Any) -> dict[str, Any]:
    return {
        "total_count": merged.total_count,
        "max": merged.get_max_value(),
        **{f"p{p:g}_value": merged.get_value_at_percentile(p) for p in PERCENTILES},
    }


def _is_row(line: Line) -> bool:
    return bool(line.text) and not line.text.startswith(("#", '"'))


def _interval(line: Line) -> tuple[TimeSlice, Any]:
    cells = line.text.split(",")
    if cells[0].startswith("Tag="):
        cells = cells[1:]
    start, length = (number(cell) for cell in (*cells, "", "")[:2])
    if len(cells) != 4 or start is None or length is None:
        raise _damaged(line)
    try:
        base64.b64decode(cells[3], validate=True)
        histogram: Any = HdrHistogram.decode(cells[3])
    except Exception:  # the library has no error of its own for damaged bytes
        raise _damaged(line) from None
    return TimeSlice(start_s=start, length_s=length, completed=histogram.total_count), histogram


def _damaged(line: Line) -> FormatError:
    return FormatError(
        "The histogram log has a row that is none.",
        tool=NAME,
        line=line.number,
        found=line.text,
        expected="start, length, maximum and a compressed histogram, between commas",
    )
