"""vegeta's reports of the latencies alone: hdrplot and hist."""

from collections.abc import Sequence

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.numbers import parse_count, parse_duration_us, parse_number
from backend.formats.text import Line
from backend.formats.vegeta.results import RESOLUTION_US


def read_hdrplot(block: Sequence[Line]) -> ParsedTrial:
    """Percentiles of the digest; raises FormatError without a row."""
    points: dict[str, float] = {}
    for line in block[1:]:
        cells = [parse_number(word) for word in line.words]
        if len(cells) != 4 or None in cells:
            break
        value_ms, fraction = cells[0] or 0.0, cells[1] or 0.0
        points[f"{round(fraction * 100, 4):g}"] = round(value_ms * 1000, 3)
    if not points:
        raise _no_rows(block, "a value in ms, a fraction, a count and 1/(1-fraction)")
    return ParsedTrial(
        loop="open",
        latency=Latency(min_us=points.get("0"), max_us=points.get("100"), percentiles=points),
        latency_origin="percentiles",
        latency_resolution_us=RESOLUTION_US,
        incomplete="100" not in points,
    )


def read_histogram(block: Sequence[Line]) -> ParsedTrial:
    """Buckets of the requested width: too coarse for a distribution."""
    rows = [row for row in map(_bucket, block[1:]) if row is not None]
    if not rows:
        raise _no_rows(block, "a bucket such as [0s, 5ms], its count and its share")
    return ParsedTrial(
        loop="open",
        latency_origin="histogram",
        incomplete=rows[-1][1] is not None,
        extra={"buckets_us": rows},
    )


def _bucket(line: Line) -> list[float | None] | None:
    """From, to (None for no end) and count of a line such as "[0s, 5ms] 2 0.25%"."""
    bounds, closed, rest = line.text.partition("]")
    low, _, high = bounds.lstrip("[").partition(",")
    words = rest.split()
    count = parse_count(words[0]) if len(words) > 1 and words[1].endswith("%") else None
    begin = parse_duration_us(low.strip())
    if not closed or count is None or begin is None:
        return None
    return [begin, parse_duration_us(high.strip()), count]


def _no_rows(block: Sequence[Line], expected: str) -> FormatError:
    return block[0].refusal("The vegeta report has no rows.", expected=f"rows with {expected}")
