"""From plow's figures, of JSON or text, to a trial."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from backend.formats import statuses
from backend.formats.model import Latency, ParsedTrial
from backend.formats.numbers import (
    implied_elapsed_s,
    parse_count,
    parse_duration_s,
    parse_duration_us,
    parse_number,
    require_duration_us,
)
from backend.formats.text import Line
from backend.formats.transport_errors import counted_classes

RESOLUTION_US = 1
MEGABYTE = 1 << 20
# To which the time is cut, and of the rate, which is computed before.
ELAPSED_STEP_S, RATE_STEP = 0.1, 0.001
INTRO = "Benchmarking "


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a snapshot says, words as printed."""

    elapsed: str
    count: int
    codes: Mapping[str, int]
    rps: float
    # Not printed before 1.1.
    concurrency: int | None
    reads: str
    failures: Mapping[str, int]
    # Min, Mean, StdDev, Max.
    latency: Mapping[str, str]
    # Keys as "P99.9".
    percentiles: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """What plow says on stderr that it was asked for."""

    url: str | None = None
    requests: int | None = None
    duration_s: float | None = None
    connections: int | None = None


def asked_in(line: Line) -> Asked | None:
    """What a line such as "Benchmarking URL for 3s using 10 connection(s)." says."""
    # First the beginning, which is cheap: every line of an output is asked.
    if not line.text.startswith(INTRO):
        return None
    words = line.words
    if words[-1] != "connection(s)." or words[-3:-2] != ["using"]:
        return None
    after = dict(pairwise(words))
    requests = parse_count(after.get("with", ""))
    return Asked(words[1], requests, parse_duration_s(after.get("for", "")), parse_count(words[-2]))


def trial_of(figures: Figures, asked: Asked, *, incomplete: bool = False) -> ParsedTrial:
    """The trial; raises ValueError for a figure that is no number or contradicts another."""
    failed = sum(figures.failures.values())
    completed = figures.count - failed
    if completed < 0:
        raise ValueError(f"{failed} errors of {figures.count} requests")
    concurrency = figures.concurrency
    measured = figures.count > 0
    elapsed_s = require_duration_us(figures.elapsed) / 1e6
    return ParsedTrial(
        url=asked.url,
        connections=asked.connections if concurrency is None else concurrency,
        requested_requests=asked.requests,
        requested_duration_s=asked.duration_s,
        elapsed_s=elapsed_s,
        exact_elapsed_s=implied_elapsed_s(
            elapsed_s,
            step_s=ELAPSED_STEP_S,
            count=figures.count,
            rate_rps=figures.rps,
            rate_step=RATE_STEP,
        ),
        requests_completed=completed,
        **_outcome(figures, failed),
        reported_rps=figures.rps,
        transfer_rate_bytes_s=_rate(figures.reads),
        errors={**counted_classes(figures.failures), "status": _bad(figures.codes, completed)},
        tool_errors=figures.failures,
        status_counts=figures.codes,
        latency=_latency(figures) if measured else Latency(),
        latency_origin="percentiles" if measured and figures.percentiles else None,
        latency_resolution_us=RESOLUTION_US,
        incomplete=incomplete,
        disagreements=_disagreements(figures.codes, completed),
    )


def _outcome(figures: Figures, failed: int) -> dict[str, Any]:
    """Successes, attempts and failed attempts.

    plow can count an attempt without an answer again under the status of an earlier one. The
    successes are unknown where such an attempt may be among the statuses, some of which are bad.
    """
    completed, bad = figures.count - failed, statuses.failed(figures.codes)
    counted, ok = sum(figures.codes.values()), statuses.succeeded(figures.codes)
    outcome = {"attempts": figures.count, "failed": min(failed + bad, figures.count)}
    if counted == completed:
        return {**outcome, "requests_ok": ok}
    return {**outcome, "requests_ok": completed if counted == ok > completed else None}


def _bad(codes: Mapping[str, int], completed: int) -> int | None:
    """Answers with 4xx and 5xx; None where failed attempts may be among them."""
    bad = statuses.failed(codes)
    return None if bad and sum(codes.values()) != completed else bad


def _disagreements(codes: Mapping[str, int], completed: int) -> tuple[str, ...]:
    counted = sum(codes.values())
    if counted == completed:
        return ()
    return (f"the status codes stand for {counted} responses, Count less errors is {completed}",)


def _latency(figures: Figures) -> Latency:
    of = {name: latency_us(word) for name, word in figures.latency.items()}
    return Latency(
        mean_us=of["Mean"],
        stdev_us=of["StdDev"],
        min_us=of["Min"],
        max_us=of["Max"],
        percentiles={
            name.removeprefix("P"): latency_us(word) for name, word in figures.percentiles.items()
        },
    )


def latency_us(word: str) -> float:
    """The µs of a duration, or of bare seconds; raises ValueError for others."""
    microseconds, seconds = parse_duration_us(word), parse_number(word)
    if microseconds is None and seconds is None:
        raise ValueError(f"{word!r} is not a time")
    return round(seconds * 1e6, 6) if seconds is not None else microseconds or 0.0


def _rate(word: str) -> float:
    megabytes = parse_number(word.removesuffix("MB/s"))
    if megabytes is None or not word.endswith("MB/s"):
        raise ValueError(f"{word!r} is not a rate in MB/s")
    return round(megabytes * MEGABYTE, 6)
