"""bombardier (text with and without -l, JSON of -o json).

Loop: closed, also with -r. Latency unit: µs in JSON; printed per figure (us, ms, s, m, h) with two
decimals in the text, the next unit from 85 % of it on. Success: status 2xx and 3xx, by our rule:
bombardier knows classes only. Percentiles: the first µs whose cumulative count reaches n·p + 0.5;
failed attempts are among the latencies. Reqs/sec is the mean of sampled rates, not requests ÷
time. Throughput counts bytes read and written, in steps of 1024. The default client repeats a GET
on a connection that was closed, so resets may not show. "others" are failed attempts, and
responses with a status outside 100 to 599.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.formats.bombardier.report import Report, find_reports, outcome_of
from backend.formats.model import Entry, Latency, ParsedTrial
from backend.formats.numbers import json_count, json_number, optional_line, optional_number
from backend.formats.refusals import read_json, read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.statuses import CLASSES, failed, succeeded
from backend.formats.text import Document, Source
from backend.formats.together import runs_of_one
from backend.formats.transport_errors import counted_classes

KEEPS_CONNECTIONS = True
PRINTS_TWO_DECIMALS = True
PERCENTILE_OPTION = "--latencies"
MARKS = ("Reqs/sec", "numberOfConnections", "Bombarding ", "enough data to compute statistics")
FIGURE_MARKS = ("Reqs/sec",)
ENDS = ("Throughput:",)
JSON_START = '{"spec":{"numberOfConnections":'


def claims(source: Source) -> str | None:
    """Why this is bombardier's output, or None."""
    if JSON_START in source.text:
        return "a JSON object has bombardier's keys (spec, numberOfConnections)"
    reports = find_reports(source.lines)
    if reports:
        return f"line {reports[0].lines[0].number} begins bombardier's statistics or names its load"
    return None


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the sources, in order."""
    return runs_of_one(_runs, sources, tool="bombardier", expected="one file with a result")


def _runs(source: Source) -> list[Entry]:
    if JSON_START in source.text:
        return [_read_document(document) for document in source.documents if _is_result(document)]
    return [
        of_lines(read_or_refuse(Report(report).trial), report.all_lines)
        for report in find_reports(source.lines)
    ]


def _is_result(document: Document) -> bool:
    return document.value is None or (
        isinstance(document.value, dict) and {"spec", "result"} <= document.value.keys()
    )


def _read_document(document: Document) -> Entry:
    expected = "the whole object that bombardier -o json prints"
    return read_json(_trial, document, tool="bombardier", expected=expected)


def _trial(document: Mapping[str, Any]) -> ParsedTrial:
    spec, result = document["spec"], document["result"]
    counts = {name: json_count(result[f"req{name}"]) for name in CLASSES}
    failures = {
        str(error["description"]): json_count(error["count"]) for error in result.get("errors", ())
    }
    others = json_count(result["others"])
    latency = _latency(result.get("latency"))
    rates = result.get("rps")
    return ParsedTrial(
        url=optional_line(spec["url"]),
        connections=json_count(spec["numberOfConnections"]),
        requested_rate_rps=optional_number(spec.get("rate")),
        requested_requests=json_count(spec["numberOfRequests"])
        if "numberOfRequests" in spec
        else None,
        requested_duration_s=optional_number(spec.get("testDurationSeconds")),
        elapsed_s=json_number(result["timeTakenSeconds"]),
        requests_completed=sum(counts.values()),
        requests_ok=succeeded(counts),
        **outcome_of(counts, max(others, sum(failures.values()))),
        reported_rps=None if rates is None else json_number(rates["mean"]),
        bytes_received=json_count(result["bytesRead"]),
        errors={**counted_classes(failures), "status": failed(counts)},
        tool_errors=failures,
        status_counts=counts,
        latency=latency,
        latency_origin=latency.printed_origin,
        latency_resolution_us=1,
        disagreements=_disagreements(failures, others),
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
        mean_us=json_number(block["mean"]),
        stdev_us=json_number(block["stddev"]),
        max_us=json_number(block["max"]),
        percentiles={
            key: json_number(value) for key, value in block.get("percentiles", {}).items()
        },
    )
