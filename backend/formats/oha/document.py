"""oha's JSON, of old and new versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.oha.errors import errors_of, succeeded
from backend.formats.refusals import fault_in

NAME = "oha"
SUMMARY_KEYS = frozenset(("successRate", "total", "slowest", "fastest", "requestsPerSec"))
# Of a clock that counts nanoseconds.
RESOLUTION_US = 0.001


def is_result(value: Any) -> bool:
    """Whether this is the object that oha prints."""
    summary = value.get("summary") if isinstance(value, dict) else None
    return isinstance(summary, dict) and summary.keys() >= SUMMARY_KEYS


def read_document(document: Mapping[str, Any]) -> ParsedTrial | FormatError:
    """One result."""
    try:
        return _trial(document)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as wrong:
        return FormatError(
            "The oha JSON lacks a figure or has one of another kind.",
            tool=NAME,
            found=fault_in(wrong),
            expected="the object that oha prints with --output-format json",
        )


def _trial(document: Mapping[str, Any]) -> ParsedTrial:
    summary = document["summary"]
    codes = _counts(document["statusCodeDistribution"])
    if not all(len(code) == 3 and code.isascii() and code.isdigit() for code in codes):
        raise ValueError(f"{list(codes)!r} are no status codes")
    messages = _counts(document["errorDistribution"])
    completed = sum(codes.values())
    latency = _latency(document) if completed else Latency()
    received = summary.get("totalData")
    return ParsedTrial(
        tool=NAME,
        elapsed_s=_figure(summary["total"]),
        requests_completed=completed,
        requests_ok=succeeded(codes),
        reported_rps=_figure(summary["requestsPerSec"]),
        bytes_received=None if received is None else _count(received),
        transfer_rate_bytes_s=_figure(summary.get("sizePerSec")),
        errors=errors_of(messages, codes),
        tool_errors=messages,
        status_counts=codes,
        latency=latency,
        latency_origin="percentiles" if latency.percentiles else None,
        latency_resolution_us=RESOLUTION_US if latency.percentiles else None,
    )


def _latency(document: Mapping[str, Any]) -> Latency:
    summary = document["summary"]
    points = {
        key.removeprefix("p"): _us(value) for key, value in document["latencyPercentiles"].items()
    }
    if not all(key.replace(".", "", 1).isdecimal() for key in points):
        raise ValueError(f"{list(points)!r} are no percentiles")
    return Latency(
        mean_us=_us(summary["average"]),
        min_us=_us(summary["fastest"]),
        max_us=_us(summary["slowest"]),
        percentiles={key: value for key, value in points.items() if value is not None},
    )


def _us(seconds: Any) -> float | None:
    figure = _figure(seconds)
    return None if figure is None else round(figure * 1e6, 3)


def _figure(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise ValueError(f"{value!r} is no figure")
    return float(value)


def _counts(counts: Mapping[str, Any]) -> dict[str, int]:
    return {name: _count(count) for name, count in counts.items()}


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**15:
        raise ValueError(f"{value!r} is no count")
    return value
