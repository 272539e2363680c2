"""bombardier (text with and without -l, JSON of -o json).

Loop: closed, also with -r. Latency unit: µs in JSON; printed per figure (us, ms, s, m, h) with two
decimals in the text, the next unit from 85 % of it on. Success: status 2xx and 3xx, ours, for
bombardier knows classes only. Percentiles: the first µs whose cumulative count reaches n·p + 0.5;
failed attempts are among the latencies. Reqs/sec is the mean of sampled rates, not requests ÷
time. Throughput counts bytes read and written, in steps of 1024. The default client repeats a GET
on a connection that was closed, so resets may not show. "others" are failed attempts, and
responses with a status outside 100 to 599.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.formats.bombardier.report import CLASSES, find_reports, read_report
from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.refusals import fault_in
from backend.formats.text import Document, Source
from backend.formats.transport_errors import counted_classes

NAME = "bombardier"
MARKS = ("Reqs/sec", "numberOfConnections", "Bombarding ", "enough data to compute statistics")
JSON_START = '{"spec":{"numberOfConnections":'


def claims(source: Source) -> str | None:
    """Why this is bombardier's output, or None."""
    if JSON_START in source.text:
        return "a JSON object has bombardier's keys (spec, numberOfConnections)"
    reports = find_reports(source.lines)
    if reports:
        return f"line {reports[0].lines[0].number} begins bombardier's statistics or names its load"
    return None


def read(sources: Sequence[Source]) -> list[ParsedTrial | FormatError]:
    """Every run in the sources, in order."""
    found = [runs for source in sources if (runs := _runs(source))]
    if len(found) != 1:
        raise FormatError(
            "The bombardier files hold no result, or several.",
            tool=NAME,
            found=", ".join(source.artefact.name for source in sources),
            expected="one file with a result",
        )
    return found[0]


def _runs(source: Source) -> list[ParsedTrial | FormatError]:
    if JSON_START in source.text:
        return [_read_document(one) for one in source.documents if _is_result(one)]
    return [read_report(report) for report in find_reports(source.lines)]


def _is_result(document: Document) -> bool:
    return document.value is None or (
        isinstance(document.value, dict) and {"spec", "result"} <= document.value.keys()
    )


def _read_document(document: Document) -> ParsedTrial | FormatError:
    if document.value is None:
        return FormatError(
            "The bombardier JSON is broken or cut off.",
            tool=NAME,
            line=document.fault_line,
            found=document.fault,
            expected="the whole object that bombardier -o json prints",
        )
    try:
        return _trial(document.value["spec"], document.value["result"])
    except (KeyError, TypeError, ValueError, AttributeError) as wrong:
        return FormatError(
            "The bombardier JSON lacks a figure or has one of another kind.",
            tool=NAME,
            line=document.line,
            found=fault_in(wrong),
            expected="the object that bombardier -o json prints",
        )


def _trial(spec: Mapping[str, Any], result: Mapping[str, Any]) -> ParsedTrial:
    counts = {name: _count(result[f"req{name}"]) for name in CLASSES}
    failures = {str(one["description"]): _count(one["count"]) for one in result.get("errors", ())}
    latency = _latency(result.get("latency"))
    rates = result.get("rps")
    return ParsedTrial(
        tool=NAME,
        url=_text(spec["url"]),
        connections=_count(spec["numberOfConnections"]),
        requested_rate_rps=_optional(spec, "rate"),
        requested_requests=_count(spec["numberOfRequests"]) if "numberOfRequests" in spec else None,
        requested_duration_s=_optional(spec, "testDurationSeconds"),
        elapsed_s=_figure(result["timeTakenSeconds"]),
        requests_completed=sum(counts.values()),
        requests_ok=counts["2xx"] + counts["3xx"],
        reported_rps=None if rates is None else _figure(rates["mean"]),
        bytes_received=_count(result["bytesRead"]),
        errors={**counted_classes(failures), "status": counts["4xx"] + counts["5xx"]},
        tool_errors=failures,
        status_counts=counts,
        latency=latency,
        latency_origin=_origin(latency),
        latency_resolution_us=1,
        disagreements=_disagreements(failures, _count(result["others"])),
    )


def _disagreements(failures: Mapping[str, int], others: int) -> tuple[str, ...]:
    listed = sum(failures.values())
    if listed <= others:
        return ()
    return (f"{listed} failed attempts are listed, others are {others}",)


def _latency(block: Mapping[str, Any] | None) -> Latency:
    """The figures of the latency block, which is left out when nothing was measured."""
    if block is None:
        return Latency()
    return Latency(
        mean_us=_figure(block["mean"]),
        stdev_us=_figure(block["stddev"]),
        max_us=_figure(block["max"]),
        percentiles={key: _figure(value) for key, value in block.get("percentiles", {}).items()},
    )


def _origin(latency: Latency) -> str | None:
    if latency.percentiles:
        return "percentiles"
    return None if latency.mean_us is None else "summary"


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise TypeError(f"{value!r} is no count")
    return value


def _figure(value: Any) -> float:
    # NaN is no figure, and is not below anything.
    if type(value) not in (int, float) or not 0 <= value < 1e18:
        raise TypeError(f"{value!r} is no figure")
    return float(value)


def _optional(block: Mapping[str, Any], key: str) -> float | None:
    return _figure(block[key]) if key in block else None


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 2000:
        raise TypeError(f"{value!r} is no address")
    return value
