"""oha's JSON, of old and new versions."""

from collections.abc import Mapping
from typing import Any

from backend.formats.model import Entry, Latency, ParsedTrial
from backend.formats.numbers import json_count, json_counts, optional_number
from backend.formats.oha.errors import errors_of
from backend.formats.refusals import read_figures
from backend.formats.statuses import succeeded

SUMMARY_KEYS = frozenset(("successRate", "total", "slowest", "fastest", "requestsPerSec"))
# Of a clock that counts nanoseconds.
RESOLUTION_US = 0.001


def is_result(value: Any) -> bool:
    """Whether this is the object that oha prints."""
    summary = value.get("summary") if isinstance(value, dict) else None
    return isinstance(summary, dict) and summary.keys() >= SUMMARY_KEYS


def read_document(document: Mapping[str, Any]) -> Entry:
    return read_figures(
        _trial,
        document,
        title="oha JSON",
        expected="the object that oha prints with --output-format json",
    )


def _trial(document: Mapping[str, Any]) -> ParsedTrial:
    summary = document["summary"]
    codes = json_counts(document["statusCodeDistribution"])
    if not all(len(code) == 3 and code.isascii() and code.isdigit() for code in codes):
        raise ValueError(f"{list(codes)!r} are not status codes")
    messages = json_counts(document["errorDistribution"])
    completed = sum(codes.values())
    latency = _latency(document) if completed else Latency()
    received = summary.get("totalData")
    return ParsedTrial(
        elapsed_s=optional_number(summary["total"]),
        requests_completed=completed,
        requests_ok=succeeded(codes),
        reported_rps=optional_number(summary["requestsPerSec"]),
        bytes_received=None if received is None else json_count(received),
        transfer_rate_bytes_s=optional_number(summary.get("sizePerSec")),
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
        raise ValueError(f"{list(points)!r} are not percentiles")
    return Latency(
        mean_us=_us(summary["average"]),
        min_us=_us(summary["fastest"]),
        max_us=_us(summary["slowest"]),
        percentiles={key: value for key, value in points.items() if value is not None},
    )


def _us(seconds: Any) -> float | None:
    figure = optional_number(seconds)
    return None if figure is None else round(figure * 1e6, 3)
