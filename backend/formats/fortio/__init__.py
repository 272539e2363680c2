"""fortio (-json).

Loop: closed, also with -qps, which only paces the connections. Latency unit: seconds in the JSON.
Success: 2xx; 418 counts as success for fortio and as a bad status here. Code −1 is a socket error
of any kind: refused, reset and timeout are not told apart. Percentiles: linear interpolation
inside buckets as wide as the resolution (-r, 1 ms unless asked); the histogram kept here has each
request at its bucket's upper end, so its percentiles are high by at most a bucket.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.text import GO_UNITS_US, Source, duration_us, fault_in, number
from backend.stats import Histogram

NAME = "fortio"
MARKS = ('"DurationHistogram"',)
SOCKET_ERROR = "-1"


def claims(source: Source) -> str | None:
    """Why this is fortio's output, or None."""
    return (
        "a JSON object has fortio's keys (DurationHistogram, ActualQPS)"
        if _results(source)
        else None
    )


def _results(source: Source) -> list[Mapping[str, Any]]:
    return [
        document.value
        for document in source.documents
        if isinstance(document.value, dict)
        and {"DurationHistogram", "ActualQPS"} <= document.value.keys()
    ]


def read(sources: Sequence[Source]) -> list[ParsedTrial | FormatError]:
    """Every run in the sources, in order."""
    return [_read_or_refuse(result) for source in sources for result in _results(source)]


def _read_or_refuse(result: Mapping[str, Any]) -> ParsedTrial | FormatError:
    try:
        return _trial(result)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as wrong:
        return FormatError(
            "The fortio JSON lacks a figure or has one of another kind.",
            tool=NAME,
            found=fault_in(wrong),
            expected="the object that fortio load -json writes",
        )


def _trial(result: Mapping[str, Any]) -> ParsedTrial:
    codes = {code: _count(count) for code, count in result["RetCodes"].items()}
    answered = {code: count for code, count in codes.items() if code != SOCKET_ERROR}
    ok = sum(count for code, count in answered.items() if code.startswith("2"))
    durations, sizes = result["DurationHistogram"], result.get("Sizes")
    counted = _count(durations["Count"])
    return ParsedTrial(
        tool=NAME,
        tool_version=result.get("Version") or None,
        url=result.get("URL") or None,
        connections=_count(result["NumThreads"]),
        requested_rate_rps=number(str(result["RequestedQPS"])),
        requested_requests=_count(result["Exactly"]) or None,
        requested_duration_s=_asked_s(str(result["RequestedDuration"])),
        keepalive=not result["DisableKeepAlive"] if "DisableKeepAlive" in result else None,
        elapsed_s=round(_figure(result["ActualDuration"]) / 1e9, 9),
        requests_completed=sum(answered.values()),
        requests_ok=ok,
        reported_rps=_figure(result["ActualQPS"]),
        bytes_received=None if sizes is None else _count(sizes["Sum"]),
        errors={"status": sum(answered.values()) - ok, "other": codes.get(SOCKET_ERROR, 0)},
        tool_errors=_tool_errors(codes, result.get("ErrorsDurationHistogram")),
        status_counts=answered,
        latency=_latency(durations) if counted else Latency(),
        latency_origin="histogram" if counted else None,
        latency_resolution_us=round(_figure(result.get("Resolution", 0.001)) * 1e6, 6),
        histogram=_histogram(durations) if counted else None,
        disagreements=_disagreements(counted, sum(codes.values())),
    )


def _asked_s(text: str) -> float | None:
    """Seconds of "3s"; None for "exactly 300 calls" and "until stop"."""
    asked = duration_us(text) if text.endswith(tuple(GO_UNITS_US)) else None
    return None if asked is None else asked / 1e6


def _tool_errors(codes: Mapping[str, int], errors: Any) -> dict[str, int | None]:
    named: dict[str, int | None] = {}
    if codes.get(SOCKET_ERROR):
        named[SOCKET_ERROR] = codes[SOCKET_ERROR]
    count = _count(errors["Count"]) if errors else 0
    if count:
        named["ErrorsDurationHistogram.Count"] = count
    return named


def _disagreements(timed: int, coded: int) -> tuple[str, ...]:
    if timed == coded:
        return ()
    return (f"{timed} durations are counted and {coded} return codes",)


def _latency(durations: Mapping[str, Any]) -> Latency:
    return Latency(
        mean_us=_us(durations["Avg"]),
        stdev_us=_us(durations["StdDev"]),
        min_us=_us(durations["Min"]),
        max_us=_us(durations["Max"]),
        percentiles={
            f"{_figure(point['Percentile']):g}": _us(point["Value"])
            for point in durations.get("Percentiles") or []
        },
    )


def _histogram(durations: Mapping[str, Any]) -> Histogram:
    buckets = durations["Data"]
    ends = np.array([_us(bucket["End"]) for bucket in buckets])
    counts = np.array([_count(bucket["Count"]) for bucket in buckets])
    if counts.sum() != _count(durations["Count"]):
        raise ValueError(f"buckets with {counts.sum()} requests of {durations['Count']}")
    return Histogram.from_counts(ends, counts)


def _us(seconds: Any) -> float:
    return round(_figure(seconds) * 1e6, 6)


def _figure(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise ValueError(f"{value!r} is no figure")
    return float(value)


def _count(value: Any) -> int:
    figure = _figure(value)
    if figure != int(figure):
        raise ValueError(f"{value!r} is no count")
    return int(figure)
