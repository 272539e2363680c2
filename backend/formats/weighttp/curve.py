"""weighttp's -e file: CSV of the percentiles 0 to 100, in µs."""

from collections.abc import Iterator

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.numbers import parse_count
from backend.formats.text import Line, Source

HEADER = "Percentage served,Time in us"


def is_curve(source: Source) -> bool:
    """Whether this is a weighttp -e file."""
    return source.first_line == HEADER


def read_curve(source: Source) -> ParsedTrial:
    """The percentiles. Raises FormatError for a row that does not fit the one before it."""
    points: dict[str, float] = {}
    highest = 0
    for line in _rows(source):
        percent, time_us = _row(line, len(points), highest)
        points[str(percent)], highest = float(time_us), time_us
    if not points:
        raise FormatError("The weighttp -e file has no rows.", expected="rows such as 50,285")
    return ParsedTrial(
        latency=Latency(min_us=points.get("0"), max_us=points.get("100"), percentiles=points),
        latency_origin="percentiles",
        latency_resolution_us=1,
        incomplete="100" not in points,
    )


def _rows(source: Source) -> Iterator[Line]:
    """The rows behind the header; the last one only with its line feed, else it may be cut."""
    lines = source.lines if source.text.endswith(("\n", "\r")) else source.lines[:-1]
    return (line for line in lines if line.text and line.text != HEADER)


def _row(line: Line, following: int, at_least: int) -> tuple[int, int]:
    cells = [parse_count(cell.strip()) for cell in line.text.split(",")]
    percent, time_us = cells if len(cells) == 2 else (None, None)
    if percent != following or following > 100 or time_us is None or time_us < at_least:
        raise line.refusal(
            "The weighttp -e file has a damaged row.",
            expected=f"{following} and a time in µs of at least {at_least}, such as 50,285",
        )
    return percent, time_us


def disagreements(run: ParsedTrial, curve: ParsedTrial) -> tuple[str, ...]:
    """Percentiles in which report and CSV differ; each has a median of its own."""
    return tuple(
        f"p{key} is {value:g} µs in the report and {curve.latency.percentiles[key]:g} µs in the CSV"
        for key, value in run.latency.percentiles.items()
        if key != "50" and curve.latency.percentiles.get(key, value) != value
    )
