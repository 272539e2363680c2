"""vegeta (results as gob, JSON lines, CSV; reports as text, JSON, hist, hdrplot).

Loop: open; -rate=0 with -max-workers is closed and looks the same. The rate that was asked for is
not printed: the offered rate is the roundest that explains the times of sending. Latency unit: ns
in results and JSON, durations of Go rounded to the next unit in the text, ms in hdrplot. Success:
200 to 399.
Percentiles: of a t-digest over all attempts, failed ones too, 0.1 to 1 % off; ours are of the
results, attempts without an answer left out. Status code 0 is an attempt without an answer; the
report lists error texts without counts, so their classes are known where all are of one class.
The reported rate is of successes (before 12.6: of requests sent). With -max-workers reached the
latencies are not corrected for coordinated omission. Duration [total], alone in versions before
4, leaves out the wait for the last answer.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import itemgetter
from typing import Any

from backend.formats.model import Entry, Latency, ParsedTrial
from backend.formats.text import Source
from backend.formats.together import one_of, wholes_of
from backend.formats.vegeta.gob import is_gob, read_gob
from backend.formats.vegeta.report import find_reports, read_reports
from backend.formats.vegeta.results import is_csv, is_json_lines, read_csv, read_json_lines

KEEPS_CONNECTIONS = True
COUNTS_BODIES_ONLY = True
# The comma is of the CSV, which has no header; what else it needs is asked of its first line.
MARKS = ("[total", '"bytes_in"', "Value(ms)", "Bucket", ",")
ENDS = ("Status Codes", "1/(1-Percentile)", "Bucket")
COUNTS = ("requests_completed", "requests_ok", "bytes_received")


def claims(source: Source) -> str | None:
    """Why this is vegeta's output, or None."""
    if is_json_lines(source):
        return "the lines are JSON objects with vegeta's keys (seq, latency, bytes_in)"
    if is_csv(source):
        return "the first line has the cells of vegeta encode -to csv"
    reports = find_reports(source)
    return f"line {reports[0].line} begins vegeta's {reports[0].kind}" if reports else None


def claims_binary(source: Source) -> str | None:
    """Why this is vegeta's binary output, or None."""
    return (
        "the first message of the gob stream describes vegeta's Result" if is_gob(source) else None
    )


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the sources; of several files, the richest gives the figures of the trial."""
    if len(sources) == 1:
        return _entries(sources[0])[1]
    named = ((*_entries(source), source.artefact.name) for source in sources)
    ranked = sorted(named, key=itemgetter(0))
    readings = wholes_of([(name, one_of(entries)) for _, entries, name in ranked])
    return [reduce(_joined, [trial for _, trial in readings])]


def _entries(source: Source) -> tuple[int, list[Entry]]:
    """The runs of a source, and how rich they are: 0 for every request."""
    if source.is_binary:
        return 0, [read_gob(source)]
    if is_json_lines(source):
        return 0, [read_json_lines(source)]
    if is_csv(source):
        return 0, [read_csv(source)]
    return read_reports(source)


def _joined(first: ParsedTrial, other: ParsedTrial) -> ParsedTrial:
    """The richer file's figures, with what only the other one has."""
    names = ("elapsed_s", "sent_rps", "offered_rps", *COUNTS)
    missing: dict[str, Any] = {
        name: getattr(other, name) for name in names if getattr(first, name) is None
    }
    return replace(
        first,
        exact_elapsed_s=(other if first.elapsed_s is None else first).exact_elapsed_s,
        status_counts=first.status_counts or other.status_counts,
        errors=first.errors or other.errors,
        tool_errors=first.tool_errors or other.tool_errors,
        reported_rps=first.reported_rps or other.reported_rps,
        latency=other.latency if first.latency == Latency() else first.latency,
        extra={**other.extra, **first.extra},
        disagreements=(*first.disagreements, *_disagreements(first, other)),
        **missing,
    )


def _disagreements(first: ParsedTrial, other: ParsedTrial) -> list[str]:
    pairs = [(name, getattr(first, name), getattr(other, name)) for name in COUNTS]
    contradictions = [
        f"{name} is {value} in one file and {other_value} in another"
        for name, value, other_value in pairs
        if None not in (value, other_value) and value != other_value
    ]
    rounded = (
        ("elapsed_s", first.elapsed_s, other.elapsed_s),
        ("latency max", first.latency.max_us, other.latency.max_us),
    )
    return contradictions + [
        f"{name} is {value:g} in one file and {other_value:g} in another"
        for name, value, other_value in rounded
        if value is not None and other_value is not None and _differ(value, other_value)
    ]


def _differ(value: float, other: float) -> bool:
    # Texts round to the next unit: at most one part in 60 of what they say.
    return abs(value - other) > max(value, other) / 60
