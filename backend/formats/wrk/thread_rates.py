"""wrk's two rates held against each other: that of its threads over time, and its last line."""

from collections.abc import Sequence
from dataclasses import replace

from backend.formats.model import ParsedTrial
from backend.formats.numbers import parse_amount
from backend.formats.text import Line

# Below this share, the rate of all threads contradicts the rate of the run. wrk samples the threads
# only while requests are answered, so the threads' rate is rarely below: never by so much in 9,698
# genuine outputs with steady threads.
LEAST_SHARE = 0.9
# Threads are steady where the standard deviation of their rate is at most this share of its mean.
STEADY_SHARE = 0.25
_UNITS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}


def with_rates_compared(trial: ParsedTrial, block: Sequence[Line]) -> ParsedTrial:
    """The trial, with the contradiction of its rates where there is one."""
    all_threads_rps, rate_rps = _threads_rate(trial, block), trial.reported_rps
    if all_threads_rps is None or rate_rps is None or all_threads_rps >= LEAST_SHARE * rate_rps:
        return trial
    sentence = (
        f"Req/Sec of {trial.threads} threads is {all_threads_rps:.4g} requests/s, "
        f"Requests/sec is {rate_rps:.6g}."
    )
    return replace(trial, disagreements=(*trial.disagreements, sentence))


def _threads_rate(trial: ParsedTrial, block: Sequence[Line]) -> float | None:
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
