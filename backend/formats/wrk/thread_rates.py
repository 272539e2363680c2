"""The rate of wrk's threads, which it samples while requests are answered."""

from collections.abc import Sequence

from backend.formats.model import ParsedTrial
from backend.formats.numbers import parse_amount
from backend.formats.text import Line

# Threads are steady where the standard deviation of their rate is at most this share of its mean.
STEADY_SHARE = 0.25
_UNITS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}


def threads_rate(trial: ParsedTrial, block: Sequence[Line]) -> float | None:
    """The mean rate of all threads; None if it is unknown, unsteady or coarse."""
    rows = (line.words for line in block if line.words[:1] == ["Req/Sec"])
    row: list[str] = next(rows, [])
    _, mean, deviation, largest, *_ = [*row, *[""] * 4]
    mean_rps, deviation_rps = parse_amount(mean, _UNITS), parse_amount(deviation, _UNITS)
    # wrk 3 counted the rate of a thread in steps of a thousand, and a slow one as 0.
    if not mean_rps or deviation_rps is None or largest.endswith(".00k"):
        return None
    is_steady = deviation_rps <= STEADY_SHARE * mean_rps
    return trial.threads * mean_rps if trial.threads and is_steady else None
