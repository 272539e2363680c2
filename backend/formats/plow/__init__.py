"""plow (text, --json; of snapshots that follow each other the last one is the result).

Loop: closed, also with --rate. Latency unit: durations of Go cut to µs, bare seconds with
--seconds. Success: status 2xx and 3xx, by our rule: plow knows classes only. A failed attempt can
be counted again under the status of an earlier one. Where that may be a 4xx or 5xx, the successes
are unknown, and the failures are the errors and all 4xx and 5xx together. Percentiles: a
streaming estimate over all attempts, failed ones too. Count and RPS include failed attempts;
completed here is Count less the errors. Elapsed is cut to 100 ms (to 1 ms before 1.1). Rates of
bytes are in steps of 1024. URL and asked load stand on stderr.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from backend.formats.text import Document, Line, Source, is_prompt
from backend.formats.together import read_each, runs_of_one

MARKS = ("Elapsed", "connection(s).")
# Count, least and most latency in µs.
Latency = tuple[int, float, float]
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
    tables = find_tables(source)
    asked = _asked(source)
    runs = [
        read_table(table, _asked_before(asked, table[0].number))
        for table, following in zip(tables, [*tables[1:], None], strict=False)
        if not is_snapshot(table) and not _is_followed(source, table, following)
    ]
    if tables and is_snapshot(tables[-1]):
        last = tables[-1][-1]
        runs.append(_cut_off(last.number, last.text))
    return runs


def _is_followed(source: Source, table: Sequence[Line], following: Sequence[Line] | None) -> bool:
    """Whether this is a snapshot of a run without an end, which goes on in the following one."""
    if following is None or not may_be_snapshot(table):
        return False
    lines = (table[0].number, following[0].number)
    return _goes_on(source, lines, _latency_in(table), _latency_in(following))


def _latency_in(table: Sequence[Line]) -> Latency | None:
    try:
        count, least, most = latency_words(table)
        return require_count(count), latency_us(least), latency_us(most)
    except (KeyError, ValueError):
        return None


def _json_runs(source: Source) -> list[Entry]:
    results = source.objects(JSON_KEYS)
    if not results:
        return []
    asked = _asked(source)
    runs = [
        _read_document(result, _asked_before(asked, result.line))
        for result, following in zip(results, [*results[1:], None], strict=True)
        if not _replaces(source, result, following)
    ]
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
    return _goes_on(source, lines, _latency_of(snapshot), _latency_of(following))


def _latency_of(document: Document) -> Latency | None:
    """Count, least and most latency; None if they are not there."""
    try:
        figures = _figures(document.value)
        least, most = (latency_us(figures.latency[name]) for name in ("Min", "Max"))
        return figures.count, least, most
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _goes_on(
    source: Source, lines: tuple[int, int], earlier: Latency | None, later: Latency | None
) -> bool:
    """Whether figures can be those of the same run, later: more requests, in a wider range, and
    no command between the lines where they begin."""
    if earlier is None or later is None:
        return False
    between = _between(source, *lines)
    if any("plow" in line.text or is_prompt(line.text) or asked_in(line) for line in between):
        return False
    if earlier[0] == later[0]:
        return earlier == later
    return earlier[0] < later[0] and earlier[1] >= later[1] and earlier[2] <= later[2]


def _between(source: Source, above: int, below: int) -> list[Line]:
    """The lines with numbers between two."""
    number = attrgetter("number")
    begin = bisect_right(source.lines, above, key=number)
    return source.lines[begin : bisect_left(source.lines, below, key=number)]


def _asked(source: Source) -> list[tuple[int, Asked]]:
    """Every line of what was asked for, by its number."""
    lines = ((line.number, asked_in(line)) for line in source.lines)
    return [(number, asked) for number, asked in lines if asked is not None]


def _asked_before(asked: Sequence[tuple[int, Asked]], number: int) -> Asked:
    """What the last such line above a line says."""
    above = bisect_left(asked, number, key=itemgetter(0))
    return asked[above - 1][1] if above else Asked()


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
