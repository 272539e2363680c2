"""The JSON result that h2load writes from version 1.69 on."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from backend.formats.h2load.report import (
    REQUESTS,
    completed_of,
    main_duration_s,
    outcomes_of,
    progress_of,
)
from backend.formats.model import Entry, Latency, ParsedTrial
from backend.formats.numbers import json_count, json_number
from backend.formats.refusals import read_figures
from backend.formats.statuses import FINAL_CLASSES
from backend.formats.text import Source
from backend.stats import Histogram

GENERATOR = "h2load "
US = 1_000_000
PERCENTILES = {"50": "median", "95": "p95", "99": "p99"}


def documents(source: Source) -> list[Mapping[str, Any]]:
    """Every JSON result in the text."""
    if f'"{GENERATOR}' not in source.text:
        return []
    return [entry.value for entry in source.documents if _is_result(entry.value)]


def _is_result(value: Any) -> bool:
    if not isinstance(value, dict) or "measurements" not in value:
        return False
    metadata = value.get("metadata")
    generator = metadata.get("generator") if isinstance(metadata, dict) else None
    return isinstance(generator, str) and generator.startswith(GENERATOR)


def read_document(document: Mapping[str, Any]) -> Entry:
    return read_figures(
        _trial,
        document,
        title="h2load JSON",
        expected="the object that h2load --output-file writes",
    )


def _trial(document: Mapping[str, Any]) -> ParsedTrial:
    measured = document["measurements"]
    counts = {name: json_count(measured["requests"][name]) for name in (*REQUESTS, "timeout")}
    codes = {name: json_count(measured["status_codes"][name]) for name in FINAL_CLASSES}
    completed = completed_of(counts)
    times = measured["performance"]["request"]
    samples = _samples(times["samples"])
    # More than a million requests are a sample of them.
    is_all = bool(completed) and len(samples) == completed
    latency = _latency(times) if completed else Latency()
    rate = json_number(measured["request_per_second"])
    return ParsedTrial(
        tool_version=document["metadata"]["generator"].removeprefix(GENERATOR),
        elapsed_s=_elapsed_s(json_number(measured["duration"]), counts["succeeded"], rate),
        reported_rps=rate,
        bytes_received=json_count(measured["traffic"]["total"]),
        body_bytes=json_count(measured["traffic"]["data"])
        if "data" in measured["traffic"]
        else None,
        transfer_rate_bytes_s=json_number(measured["bytes_per_second"]),
        latency=latency,
        latency_origin="samples" if is_all else latency.printed_origin,
        latency_resolution_us=1 if completed else None,
        samples=completed if is_all else None,
        histogram=Histogram.from_samples(samples) if is_all else None,
        extra={"extra": progress_of(counts)},
        **outcomes_of(counts, codes),
    )


def _elapsed_s(lasted_s: float, succeeded: int, rate: float) -> float:
    main_s = main_duration_s(lasted_s, succeeded, rate)
    return lasted_s if main_s is None else main_s


def _samples(values: Any) -> Any:
    samples = np.array(values, dtype=np.float64) * US
    if len(samples) and not (samples.min() >= 0 and samples.max() < 1e12):
        raise ValueError("an impossible time")
    return samples


def _latency(times: Mapping[str, Any]) -> Latency:
    return Latency(
        mean_us=_us(times["mean"]),
        stdev_us=_us(times["sd"]),
        min_us=_us(times["min"]),
        max_us=_us(times["max"]),
        percentiles={key: _us(times[name]) for key, name in PERCENTILES.items()},
    )


def _us(seconds: Any) -> float:
    return round(json_number(seconds) * US, 6)
