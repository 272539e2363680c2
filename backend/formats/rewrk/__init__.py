"""rewrk (text with and without --pct, JSON of --json).

Loop: closed. Latency unit: ms with two decimals in the text, exact in the JSON; failed attempts are
among the latencies. Success: unknown: rewrk does not look at statuses. Percentiles: none. The table
of --pct gives the mean of the slowest 0.1, 1, 5 … 50 %, which is above the percentile of that name;
it is kept beside as `slowest_mean_us`. Total counts failed attempts too, but for one whose
connection could not be opened again before the end; completed here is Total less the errors. The
errors stand at the end of the text. If the text may be cut off, or prints no errors, the error rate
is unknown. If it prints errors, the error rate counts only these. The JSON prints no errors, so its
error rate is unknown. The elapsed time is Total ÷ Req/Sec, which rewrk computes from it. Bytes
count headers, in steps of 1024. Each round of -r is a trial.
"""

from collections.abc import Sequence

from backend.formats.model import Entry, Latency, ParsedTrial
from backend.formats.numbers import json_count, json_number, scaled
from backend.formats.refusals import read_json, read_or_refuse
from backend.formats.rewrk.report import AT, TRANSFER, find_reports, read_report
from backend.formats.runs import of_lines
from backend.formats.text import Document, Source
from backend.formats.together import read_each

KEEPS_CONNECTIONS = True
JSON_KEYS = ("latency_std_deviation", "transfer_rate", "requests_total", "requests_avg")
MARKS = (AT, TRANSFER, f'"{JSON_KEYS[0]}"')
TABLE_HEADS = ("|   Percentile    |   Avg Latency",)
ENDS = (TRANSFER,)
# Of nanoseconds.
RESOLUTION_US = 0.001


def claims(source: Source) -> str | None:
    """Why this is rewrk's output, or None."""
    if source.objects(JSON_KEYS):
        return "a JSON object has rewrk's keys (latency_std_deviation, requests_total)"
    reports = find_reports(source)
    return f"line {reports[0][0].number} begins rewrk's report" if reports else None


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the sources, in order."""
    return read_each(_runs, sources)


def _runs(source: Source) -> list[Entry]:
    results = source.objects(JSON_KEYS)
    if results:
        return [_read_document(result) for result in results]
    blocks = find_reports(source)
    return [of_lines(read_or_refuse(read_report, block), block) for block in blocks]


def _read_document(document: Document) -> Entry:
    return read_json(_trial, document, tool="rewrk", expected="the object that rewrk --json prints")


def _trial(document: dict[str, float | None]) -> ParsedTrial:
    total = json_count(document["requests_total"])
    if not total:
        return ParsedTrial(requests_completed=0)
    rate_rps = json_number(document["requests_avg"])
    mean, stdev, low, high = (
        scaled(json_number(document[f"latency_{name}"]), 1000)
        for name in ("avg", "std_deviation", "min", "max")
    )
    return ParsedTrial(
        exact_elapsed_s=round(total / rate_rps, 9),
        requests_completed=total,
        reported_rps=rate_rps,
        bytes_received=json_count(document["transfer_total"]),
        transfer_rate_bytes_s=json_number(document["transfer_rate"]),
        latency=Latency(mean_us=mean, stdev_us=stdev, min_us=low, max_us=high),
        latency_origin="summary",
        latency_resolution_us=RESOLUTION_US,
    )
