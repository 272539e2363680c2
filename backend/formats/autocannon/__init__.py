"""autocannon (--json, and the table it prints on stderr).

Loop: closed, also with -R. Latency unit: whole ms, from an HdrHistogram. Bytes: decimal units.
Success: 2xx. Percentiles: HdrHistogram's, of whole ms; with -R autocannon adds samples of its
own (a correction whose interval is always 1 ms). The rate is the mean of samples, one a second
unless the JSON's sampleInt says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.formats.autocannon.table import TableReport, find_tables
from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.text import Source, fault_in

NAME = "autocannon"
MARKS = ('"2xx"', "Running")
RESOLUTION_US = 1000
JSON_KEYS = frozenset(("connections", "latency", "requests", "throughput", "2xx"))
TOOL_ERRORS = ("errors", "timeouts", "mismatches", "non2xx", "resets")
STATUS_CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx")


def claims(source: Source) -> str | None:
    """Why this is autocannon's output, or None."""
    if _documents(source):
        return "a JSON object has autocannon's keys (latency, requests, throughput, 2xx)"
    tables = find_tables(source.lines)
    if tables:
        return f"line {tables[0][0].number} says Running … test @, the next names connections alone"
    return None


def _documents(source: Source) -> list[Mapping[str, Any]]:
    """Every JSON object with autocannon's keys."""
    return [
        document.value
        for document in source.documents
        if isinstance(document.value, dict) and document.value.keys() >= JSON_KEYS
    ]


def read(sources: Sequence[Source]) -> list[ParsedTrial | FormatError]:
    """Every run in the sources; the JSON is richer, so where there is one the table is left."""
    documents = [document for source in sources for document in _documents(source)]
    if documents:
        return [_read_or_refuse(document) for document in documents]
    return [_table_or_refuse(block) for source in sources for block in find_tables(source.lines)]


def _table_or_refuse(block: Any) -> ParsedTrial | FormatError:
    try:
        return TableReport(block).trial()
    except FormatError as refused:
        return refused


def _read_or_refuse(document: Mapping[str, Any]) -> ParsedTrial | FormatError:
    try:
        return _trial(document)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as wrong:
        return FormatError(
            "The autocannon JSON lacks a figure or has one of another kind.",
            tool=NAME,
            found=fault_in(wrong),
            expected="the object that autocannon --json prints",
        )


def _trial(document: Mapping[str, Any]) -> ParsedTrial:
    requests, throughput = document["requests"], document["throughput"]
    per_second = 1000 / (_figure(document.get("sampleInt") or 1000) or 1000)
    errors, timeouts = _count(document["errors"]), _count(document["timeouts"])
    latency = _latency(document["latency"])
    return ParsedTrial(
        tool=NAME,
        url=_url(document.get("url")),
        connections=_count(document["connections"]),
        threads=_count(document.get("workers") or 0) or None,
        elapsed_s=_figure(document["duration"]),
        requests_completed=sum(_count(document[name]) for name in STATUS_CLASSES),
        requests_ok=_count(document["2xx"]),
        reported_rps=round(_figure(requests["average"]) * per_second, 6),
        bytes_received=_count(throughput["total"]),
        transfer_rate_bytes_s=round(_figure(throughput["average"]) * per_second, 6),
        errors={
            "timeout": timeouts,
            "status": _count(document["non2xx"]),
            "other": max(errors - timeouts, 0),
        },
        tool_errors={name: _count(document[name]) for name in TOOL_ERRORS if name in document},
        status_counts=_status_counts(document.get("statusCodeStats")),
        latency=latency,
        latency_origin="percentiles" if latency.percentiles else None,
        latency_resolution_us=RESOLUTION_US,
    )


def _url(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > 2000 or not value.isprintable():
        raise ValueError(f"{value!r} is no URL")
    return value


def _status_counts(stats: Mapping[str, Any] | None) -> dict[str, int] | None:
    if stats is None:
        return None
    return {code: _count(entry["count"]) for code, entry in stats.items()}


def _latency(block: Mapping[str, Any]) -> Latency:
    # Zeros are printed when nothing was measured.
    counted = block.get("totalCount")
    if counted == 0 or (counted is None and block["max"] == 0):
        return Latency()
    return Latency(
        mean_us=_us(block["average"]),
        stdev_us=_us(block["stddev"]),
        min_us=_us(block["min"]),
        max_us=_us(block["max"]),
        percentiles={
            key[1:].replace("_", "."): _us(value)
            for key, value in block.items()
            if key[0] == "p" and key[1:2].isdigit()
        },
    )


def _us(milliseconds: Any) -> float:
    return round(_figure(milliseconds) * 1000, 6)


def _figure(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise ValueError(f"{value!r} is no figure")
    return float(value)


def _count(value: Any) -> int:
    figure = _figure(value)
    if figure != int(figure):
        raise ValueError(f"{value!r} is no count")
    return int(figure)
