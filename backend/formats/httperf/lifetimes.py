"""The lifetimes of connections in bins of 1 ms, which httperf prints with -v given twice."""

from collections.abc import Iterator, Sequence

import numpy as np

from backend.formats.numbers import parse_count, parse_number
from backend.formats.text import Line
from backend.stats import Histogram

HEADING = "Connection lifetime histogram (time in ms):"


def read_lifetimes(block: Sequence[Line], *, connections: int) -> Histogram | None:
    """The histogram, at the middle of each bin as printed; None unless it has all connections.

    httperf does not print the connections that lasted longer than its last bin.
    """
    bins = list(_bins(block))
    if not bins or sum(count for _, count in bins) != connections:
        return None
    middles, counts = np.array(bins, dtype=np.int64).T
    if (np.diff(middles) <= 0).any():
        return None
    return Histogram.from_counts(middles, counts)


def _bins(block: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """The middle of each bin in µs, and its count."""
    inside = False
    for line in block:
        words = line.words
        if line.text == HEADING:
            inside = True
        elif inside and len(words) == 2:
            middle_ms, count = parse_number(words[0]), parse_count(words[1])
            if middle_ms is None or count is None or middle_ms > 1e7:
                return
            yield round(middle_ms * 1000), count
        elif inside and line.text not in (":", ""):
            return
