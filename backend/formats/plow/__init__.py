"""plow (text, --json; of snapshots that follow each other the last one is the result).

Loop: closed, also with --rate. Latency unit: durations of Go cut to µs, bare seconds with
--seconds. Success: status 2xx and 3xx, by our rule: plow knows classes only. A failed attempt can
be counted again under the status of an earlier one. Where that may be a 4xx or 5xx, the successes
are unknown, and the failures are the errors and all 4xx and 5xx together. Percentiles: a
streaming estimate over all attempts, failed ones too. Count and RPS include failed attempts;
completed here is Count less the errors. Elapsed is cut to 100 ms (to 1 ms before 1.1). Rates of
bytes are in steps of 1024. URL and asked load stand on stderr.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import Any

from backend.formats.model import Entry, FormatError
from backend.formats.numbers import json_count, json_counts, json_number, require_count
from backend.formats.plow.table import (
    find_tables,
    is_snapshot,
    latency_words,
    may_be_snapshot,
    read_table,
)
from backend.formats.plow.trial import Asked, Figures, asked_in, latency_us, trial_of
from backend.formats.refusals import in_long_file, read_figures
from backend.formats.runs import of_lines
from backend.formats.text import Document, Line, Source, is_prompt
from backend.formats.together import read_each, runs_of_one

MARKS = ("Elapsed", "connection(s).")
FIGURE_MARKS = ("Elapsed",)
ENDS = ("Latency Histogram:",)
JSON_KEYS = frozenset(("Summary", "Statistics", "Percentiles", "Histograms"))


def claims(source: Source) -> str | None:
    """Why this is plow's output, or None."""
    if source.objects(JSON_KEYS):
        return "a JSON object has plow's keys (Summary, Statistics, Percentiles, Histograms)"
    tables = find_tables(source)
    if tables:
        return f"line {tables[0][0].number} says Summary, the next Elapsed"
    if asked := _asked(source):
        return f"line {asked[0][0]} is plow's line of what it was asked for"
    return None


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the sources; what another file says was asked for belongs to the one run."""
    expected = "one file with a summary, and stderr beside it"
    runs = runs_of_one(_runs, sources, tool="plow", expected=expected)
    asked = read_each(_asked, sources)
    if len(runs) > 1 or len(sources) == 1 or not asked:
        return runs
    return [_with(run, asked[0][1]) for run in runs]


def _with(entry: Entry, asked: Asked) -> Entry:
    if isinstance(entry, FormatError):
        return entry
    return replace(
        entry,
        url=asked.url,
        requested_requests=asked.requests,
        requested_duration_s=asked.duration_s,
        connections=asked.connections if entry.connections is None else entry.connections,
    )


def _runs(source: Source) -> list[Entry]:
    runs = _json_runs(source) or _table_runs(source)
    if not runs or not source.is_log:
        return runs
    # The result is the last snapshot, and only the head of the file was looked at.
    what_to_do = "Send the last snapshot alone, with the lines above the first one."
    size, title = source.size_of_log, "last snapshot of plow"
    return [in_long_file(size, title=title, line=1, what_to_do=what_to_do)]


def _table_runs(source: Source) -> list[Entry]:
    asked = _asked(source)
    runs: list[Entry] = []
    snapshots: list[Line] = []
    above = 0
    tables = find_tables(source)
    for table, following in zip(tables, [*tables[1:], None], strict=False):
        snapshots += table
        if not is_snapshot(table) and not _is_followed(source, table, following):
            run = read_table(table, _asked_between(asked, above, table[0].number))
            runs.append(of_lines(run, snapshots))
            snapshots, above = [], table[0].number
    if snapshots:
        last = snapshots[-1]
        runs.append(of_lines(_cut_off(last.number, last.text), snapshots))
    return runs


def _is_followed(source: Source, table: Sequence[Line], following: Sequence[Line] | None) -> bool:
    """Whether this is a snapshot of a run without an end, which goes on in the following one."""
    if following is None or not may_be_snapshot(table):
        return False
    lines = (table[0].number, following[0].number)
    return _goes_on(source, lines, _totals_in(table), _totals_in(following))


def _totals_in(table: Sequence[Line]) -> _Totals | None:
    try:
        count, least, most = latency_words(table)
        return _Totals(require_count(count), {}, {}, latency_us(least), latency_us(most))
    except (KeyError, ValueError):
        return None


def _json_runs(source: Source) -> list[Entry]:
    results = source.objects(JSON_KEYS)
    if not results:
        return []
    asked = _asked(source)
    runs: list[Entry] = []
    above = 0
    for result, following in zip(results, [*results[1:], None], strict=True):
        if not _replaces(source, result, following):
            runs.append(_read_document(result, _asked_between(asked, above, result.line)))
            above = result.line
    broken = _broken_snapshot(source, results[-1].line)
    return runs if broken is None else [*runs[:-1], _cut_off(broken.fault_line, broken.fault)]


def _broken_snapshot(source: Source, above: int) -> Document | None:
    """The last snapshot that begins below a line and is cut off."""
    broken = [
        document
        for document in source.documents
        if document.value is None
        and document.line > above
        # A prompt can begin with a bracket, a snapshot begins with a brace alone.
        and any(line.text == "{" for line in _between(source, document.line - 1, document.line + 1))
    ]
    return broken[-1] if broken else None


def _replaces(source: Source, snapshot: Document, following: Document | None) -> bool:
    """Whether the following snapshot goes on where this one ended, in the same run."""
    if following is None:
        return False
    lines = (snapshot.line, following.line)
    return _goes_on(source, lines, _totals_of(snapshot), _totals_of(following))


@dataclass(frozen=True, slots=True)
class _Totals:
    """What grows while a run goes on, and the range of its latencies."""

    count: int
    codes: Mapping[str, int]
    failures: Mapping[str, int]
    least_us: float
    most_us: float


def _totals_of(document: Document) -> _Totals | None:
    """The totals of a snapshot; None if they are not there."""
    try:
        figures = _figures(document.value)
        least, most = (latency_us(figures.latency[name]) for name in ("Min", "Max"))
        return _Totals(figures.count, figures.codes, figures.failures, least, most)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _goes_on(
    source: Source, lines: tuple[int, int], earlier: _Totals | None, later: _Totals | None
) -> bool:
    """Whether totals can be those of the same run, later: more requests of each status and more
    of each failure, in a wider range, and no command between the lines where they begin."""
    if earlier is None or later is None:
        return False
    if _begins_another(source, *lines):
        return False
    if earlier.count == later.count:
        return earlier == later
    is_wider = earlier.least_us >= later.least_us and earlier.most_us <= later.most_us
    counts = ((earlier.codes, later.codes), (earlier.failures, later.failures))
    grows = all(
        count <= after.get(name, 0) for before, after in counts for name, count in before.items()
    )
    return earlier.count < later.count and is_wider and grows


def _begins_another(source: Source, above: int, below: int) -> bool:
    """Whether another run of plow is asked for between two lines."""
    between = _between(source, above, below)
    return any("plow" in line.text or is_prompt(line.text) or asked_in(line) for line in between)


def _between(source: Source, above: int, below: int) -> list[Line]:
    """The lines with numbers between two."""
    number = attrgetter("number")
    begin = bisect_right(source.lines, above, key=number)
    return source.lines[begin : bisect_left(source.lines, below, key=number)]


def _asked(source: Source) -> list[tuple[int, Asked]]:
    """Every line of what was asked for, by its number."""
    lines = ((line.number, asked_in(line)) for line in source.lines)
    return [(number, asked) for number, asked in lines if asked is not None]


def _asked_between(asked: Sequence[tuple[int, Asked]], above: int, number: int) -> Asked:
    """What the last such line between two lines says."""
    at = bisect_left(asked, number, key=itemgetter(0))
    return asked[at - 1][1] if at and asked[at - 1][0] > above else Asked()


def _cut_off(line: int, found: str) -> FormatError:
    return FormatError(
        "The plow output is cut off: its last snapshot is missing.",
        line=line,
        found=found,
        expected="the last snapshot, whole, as plow prints it at the end",
    )


def _read_document(document: Document, asked: Asked) -> Entry:
    return read_figures(
        lambda: trial_of(_figures(document.value), asked),
        title="plow JSON",
        line=document.line,
        expected="the object that plow --json prints",
    )


def _figures(document: Mapping[str, Any]) -> Figures:
    summary = document["Summary"]
    return Figures(
        elapsed=summary["Elapsed"],
        count=json_count(summary["Count"]),
        codes=json_counts(summary["Counts"]),
        rps=json_number(summary["RPS"]),
        concurrency=json_count(summary["Concurrency"]) if "Concurrency" in summary else None,
        reads=summary["Reads"],
        failures=json_counts(document.get("Error", {})),
        latency=document["Statistics"]["Latency"],
        percentiles=document["Percentiles"],
    )
