"""nighthawk's counters and percentiles, whichever format they stand in, as one trial."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.formats import statuses
from backend.formats.model import CLIENT_CLASS, Latency, ParsedTrial

# The statistic that is a request's latency, by its id and by its name in the text.
LATENCY = ("benchmark_http_client.request_to_response", "Request start to response end")
# What nighthawk prints the first step at or above of.
POINTS = (50.0, 75.0, 80.0, 90.0, 95.0, 99.0, 99.9)
SENT, RECEIVED = "upstream_rq_total", "upstream_cx_rx_bytes_total"
STATUS = "benchmark.http_"
ERRORS = {
    "benchmark.stream_resets": "read",
    "benchmark.pool_connection_failure": "connect",
    "benchmark.pool_overflow": CLIENT_CLASS,
}


def trial_of(counters: Mapping[str, int] | None, latency: Latency, **others: Any) -> ParsedTrial:
    """The trial; counters that are zero are not there. None: they were cut off."""
    if counters is None:
        return _with_latency(latency, **others)
    codes = {
        name.removeprefix(STATUS): count
        for name, count in counters.items()
        if name.startswith(STATUS)
    }
    failures = {name: counters[name] for name in ERRORS if counters.get(name)}
    classes: dict[str, int | None] = dict.fromkeys(("read", "connect"), 0)
    classes |= {ERRORS[name]: count for name, count in failures.items()}
    return _with_latency(
        latency,
        requests_completed=sum(codes.values()),
        requests_ok=statuses.succeeded(codes),
        bytes_received=counters.get(RECEIVED),
        errors={**classes, "status": statuses.failed(codes)},
        tool_errors=failures,
        status_counts=codes,
        **others,
    )


def _with_latency(latency: Latency, **others: Any) -> ParsedTrial:
    return ParsedTrial(latency=latency, **{"latency_origin": latency.printed_origin, **others})


def named_points(steps: Sequence[tuple[float, float]]) -> dict[str, float]:
    """The value of the first step at or above each percentile, by the percentile's name."""
    points: dict[str, float] = {}
    for point in POINTS:
        value = next((value for percent, value in steps if point <= percent < 100), None)
        if value is not None:
            points[f"{point:g}"] = value
    return points
