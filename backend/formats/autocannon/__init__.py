"""autocannon (--json, and the table it prints on stderr).

Loop: closed, also with -R. Latency unit: whole ms, from an HdrHistogram. Bytes: decimal units.
Success: 2xx and 3xx with the expected body; in a table without status codes 2xx alone, and all that
are "non 2xx" count as failed. Percentiles: HdrHistogram's, of whole ms; with -R autocannon adds
samples of its own (a correction whose interval is always 1 ms), which the JSON's counts show and
the table does not. The minimum is the least latency that was not rounded to 0. The rate is the mean
of samples, one a second unless the output says otherwise. Counts of requests sent and of errors are
rounded to thousands in the table from 1000 on. A table without status codes tells the responses
where a number of requests was asked for and as many were sent without an error. A warm-up's table
is passed over. The tables before version 3 have mean, deviation and maximum, and percentiles with
-l alone. Tables without the lines above them are read, with URL and connections unknown.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.formats.autocannon.table import MARKS as TABLE_MARKS
from backend.formats.autocannon.table import (
    RESOLUTION_US,
    STARTED,
    find_tables,
    outcome_of,
    read_table,
)
from backend.formats.model import Entry, FormatError, Latency, ParsedTrial
from backend.formats.numbers import json_count, json_number, optional_line
from backend.formats.refusals import broken_document, read_figures, read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.statuses import CLASSES, failed
from backend.formats.text import Document, Source

KEEPS_CONNECTIONS = True
JSON_KEYS = frozenset(("connections", "latency", "requests", "throughput", "2xx"))
# The key that autocannon alone writes near the start of its JSON, from version 4 on.
PIPELINING = '"pipelining"'
KEY_LINES = 10
MARKS = ('"2xx"', PIPELINING, *TABLE_MARKS)
FIGURE_MARKS = ("Stat", " requests in ")
ENDS = (" requests in ",)
TOOL_ERRORS = ("errors", "timeouts", "mismatches", "non2xx", "resets")


def claims(source: Source) -> str | None:
    """Why this is autocannon's output, or None."""
    if _documents(source):
        return "a JSON object has autocannon's keys (latency, requests, throughput, 2xx)"
    tables = find_tables(source)
    if tables:
        first = tables[0][0]
        if first.text.startswith(STARTED):
            return f"line {first.number} says Running … test @, the next names connections alone"
        return f"line {first.number} begins autocannon's tables"
    if broken := _broken_documents(source):
        return f"line {broken[0].line} begins autocannon's JSON"
    return None


def _documents(source: Source) -> list[Mapping[str, Any]]:
    """Every JSON object with autocannon's keys, alone or in an array."""
    return [
        value
        for document in source.documents
        for value in (document.value if isinstance(document.value, list) else [document.value])
        if isinstance(value, dict) and value.keys() >= JSON_KEYS
    ]


def _broken_documents(source: Source) -> list[Document]:
    """JSON that is cut off or damaged, with keys that only autocannon writes one after another."""
    if PIPELINING not in source.text:
        return []
    return [
        document
        for document in source.documents
        if document.value is None
        and any(
            PIPELINING in line.text
            for line in source.lines
            if document.line <= line.number <= max(document.fault_line, document.line + KEY_LINES)
        )
    ]


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the sources; the JSON is richer, so of a run with both the table is left."""
    runs = [run for source in sources for run in _read_documents(source)]
    tables = [
        of_lines(read_or_refuse(read_table, block), block)
        for source in sources
        for block in find_tables(source)
    ]
    identities = [_identity(run) for run in runs]
    return runs + [table for table in tables if not runs or _identity(table) not in identities]


def _read_documents(source: Source) -> list[Entry]:
    """The trial of each JSON object, then the refusal of each broken one."""
    expected = "the object that autocannon --json prints"
    trials = [
        read_figures(_trial, document, title="autocannon JSON", expected=expected)
        for document in _documents(source)
    ]
    return trials + [
        broken_document(document, title="autocannon JSON", expected=f"{expected}, whole")
        for document in _broken_documents(source)
    ]


def _identity(run: Entry) -> object:
    """What JSON and table say of one run in the same digits."""
    if isinstance(run, FormatError):
        return None
    return (run.url, run.connections, run.elapsed_s)


def _trial(document: Mapping[str, Any]) -> ParsedTrial:
    requests, throughput = document["requests"], document["throughput"]
    per_second = 1000 / (json_number(document.get("sampleInt") or 1000) or 1000)
    errors, timeouts = json_count(document["errors"]), json_count(document["timeouts"])
    latency = _latency(document["latency"])
    codes = _status_counts(document.get("statusCodeStats"))
    classes = {name: json_count(document[name]) for name in CLASSES}
    completed = sum(classes.values())
    return ParsedTrial(
        url=optional_line(document.get("url")),
        connections=json_count(document["connections"]),
        threads=json_count(document.get("workers") or 0) or None,
        elapsed_s=json_number(document["duration"]),
        requests_completed=completed,
        **outcome_of(completed, failed(classes) + _mismatches(document), max(errors, timeouts)),
        reported_rps=round(json_number(requests["average"]) * per_second, 6),
        bytes_received=json_count(throughput["total"]),
        transfer_rate_bytes_s=round(json_number(throughput["average"]) * per_second, 6),
        errors={
            "timeout": timeouts,
            "status": failed(classes),
            "other": errors - timeouts if errors >= timeouts else None,
        },
        tool_errors={name: json_count(document[name]) for name in TOOL_ERRORS if name in document},
        status_counts=codes,
        latency=latency,
        latency_origin="percentiles" if latency.percentiles else None,
        latency_resolution_us=RESOLUTION_US,
        disagreements=tuple(_disagreements(document, completed, codes)),
    )


def _mismatches(document: Mapping[str, Any]) -> int:
    """The responses with another body than the expected one."""
    return json_count(document.get("mismatches") or 0)


def _disagreements(
    document: Mapping[str, Any], completed: int, codes: Mapping[str, int] | None
) -> Iterator[str]:
    """Figures that cannot both be right, and samples that were not measured."""
    if document["timeouts"] > document["errors"]:
        yield f"{document['timeouts']} timeouts are among {document['errors']} errors"
    if codes is not None and sum(codes.values()) != completed:
        yield f"{completed} responses by class, {sum(codes.values())} by status code"
    counted = document["latency"].get("totalCount")
    if counted is not None and json_count(counted) > completed:
        yield (
            f"the latency is of {counted} samples, the responses are {completed}: autocannon "
            "added samples of its own (-R without -C)"
        )


def _status_counts(stats: Mapping[str, Any] | None) -> dict[str, int] | None:
    if stats is None:
        return None
    if not all(len(code) == 3 and code.isascii() and code.isdigit() for code in stats):
        raise ValueError(f"{list(stats)!r} are not status codes")
    return {code: json_count(entry["count"]) for code, entry in stats.items()}


def _latency(block: Mapping[str, Any]) -> Latency:
    # Zeros are printed when nothing was measured.
    counted = block.get("totalCount")
    if counted == 0 or (counted is None and block["max"] == 0):
        return Latency()
    percentiles = {
        _percent(key): _us(value)
        for key, value in block.items()
        if key[:1] == "p" and key[1:2].isdigit()
    }
    return Latency(
        mean_us=_us(block["average"]),
        stdev_us=_us(block["stddev"]),
        min_us=_us(block["min"]),
        max_us=_us(block["max"]),
        percentiles=percentiles,
    )


def _percent(key: str) -> str:
    """The percentile of a key: "p99_9", or before version 3 "p999"."""
    digits = key[1:].replace("_", ".")
    return f"{digits[:2]}.{digits[2:]}" if digits.isdigit() and len(digits) > 2 else digits


def _us(milliseconds: Any) -> float:
    return round(json_number(milliseconds) * 1000, 6)
