"""The CSV files that locust writes with --csv: stats, history, failures, exceptions."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from backend.formats.locust.errors import by_class, completed
from backend.formats.model import FormatError, Latency, ParsedTrial, TimeSlice
from backend.formats.numbers import parse_count, parse_float
from backend.formats.refusals import several_totals
from backend.formats.text import HEAD_BYTES, Source

# The columns by which each file is known; before 1.0 locust named some otherwise.
KINDS = {
    "history": ("Timestamp", "User Count", "Name"),
    "failures": ("Method", "Name", "Error", "Occurrences"),
    "exceptions": ("Count", "Message", "Traceback", "Nodes"),
    "stats": ("Name", "Average Response Time"),
}
OLD_NAMES = {
    "# requests": "Request Count",
    "# failures": "Failure Count",
    "Median response time": "Median Response Time",
    "Average response time": "Average Response Time",
    "Min response time": "Min Response Time",
    "Max response time": "Max Response Time",
}
TOTALS = ("Aggregated", "Total")
HEAD_LINES = 30
MOST_SLICES = 86_400

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """One of the files: the line of its header, and its rows by column."""

    kind: str
    line: int
    header: Sequence[str]
    rows: Sequence[Row]
    # Whether the last row ends in a line feed, and has all its digits.
    is_whole: bool


def kind_of(source: Source) -> tuple[str, int] | None:
    """Which of the files this is, and the number of the line with its header."""
    lines = source.text[:HEAD_BYTES].split("\n")[:HEAD_LINES]
    for number, line in enumerate(lines, source.artefact.first_line):
        names = [_modern(name) for name in line.split(",")]
        for kind, columns in KINDS.items():
            if set(columns) <= set(names):
                return kind, number
    return None


def read_table(source: Source) -> Table:
    """The rows of one of the files; raises FormatError for a damaged row."""
    above = source.artefact.first_line
    kind, line = kind_of(source) or ("stats", above)
    text = source.text.split("\n", line - above)[-1]
    is_whole = text.endswith("\n")
    if not is_whole and kind in ("failures", "exceptions"):
        raise _broken(kind, line, text[-60:], "a line feed at the end: the file is cut off")
    header, *rows = _csv_rows(kind, line, text)
    if rows and not is_whole and len(rows[-1]) < len(header):
        rows = rows[:-1]
    if header in rows:
        raise _broken(kind, line, ",".join(header), "one file at a time, with one header")
    names = [_modern(name) for name in header]
    return Table(kind, line, names, _cells(kind, line, names, rows), is_whole)


def _csv_rows(kind: str, line: int, text: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(io.StringIO(text), strict=True) if row]
    except (csv.Error, ValueError) as fault:
        raise _broken(kind, line, str(fault), "quotes that are closed") from None


def _cells(
    kind: str, line: int, names: Sequence[str], rows: Sequence[Sequence[str]]
) -> list[dict[str, str]]:
    """The cells of each row by column; raises FormatError for a row of another width."""
    for row in rows:
        if len(row) != len(names):
            raise _broken(kind, line, ",".join(row), f"{len(names)} cells as in the header")
    return [dict(zip(names, map(str.strip, row), strict=True)) for row in rows]


def _modern(name: str) -> str:
    name = name.strip(' "\r')
    return OLD_NAMES.get(name, name)


def read_stats(table: Table) -> ParsedTrial:
    """The row of totals of the file *_stats.csv."""
    row = _total(table)
    requests, failures = _count(table, row, "Request Count"), _count(table, row, "Failure Count")
    points = {
        name.removesuffix("%"): value * 1000
        for name in table.header
        # The last cell of a file without its line feed may have lost digits.
        if name.endswith("%") and (table.is_whole or name != table.header[-1])
        if row[name] != "N/A" and (value := _figure(table, row, name)) is not None
    }
    return _trial(
        requests,
        failures,
        Latency(
            mean_us=_us(_figure(table, row, "Average Response Time")),
            min_us=_us(_figure(table, row, "Min Response Time")),
            max_us=_us(_figure(table, row, "Max Response Time")),
            percentiles=points if requests else {},
        ),
        rate=_figure(table, row, "Requests/s"),
        incomplete=not table.is_whole,
    )


def read_history(table: Table) -> ParsedTrial:
    """The last totals of the file *_stats_history.csv, and what it says of each second."""
    totals = [row for row in table.rows if row["Name"] in TOTALS]
    if not table.is_whole and totals and totals[-1] is table.rows[-1]:
        totals.pop()
    if not totals:
        raise _no_total(table)
    last = totals[-1]
    requests = _count(table, last, "Total Request Count")
    failures = _count(table, last, "Total Failure Count")
    median = _figure(table, last, "Total Median Response Time")
    return _trial(
        requests,
        failures,
        Latency(
            mean_us=_us(_figure(table, last, "Total Average Response Time")),
            min_us=_us(_figure(table, last, "Total Min Response Time")),
            max_us=_us(_figure(table, last, "Total Max Response Time")),
            percentiles={} if median is None or not requests else {"50": median * 1000},
        ),
        timeline=_timeline(table, totals),
        # Totals as they grow: nothing says that the last row is the end.
        incomplete=True,
    )


def _timeline(table: Table, rows: Sequence[Row]) -> tuple[TimeSlice, ...]:
    """What the totals grew by from row to row."""
    slices: list[TimeSlice] = []
    names = ("Timestamp", "Total Request Count", "Total Failure Count")
    totals = [[_count(table, row, name) for name in names] for row in rows]
    for before, after in pairwise(totals):
        length, added, failed = (new - old for old, new in zip(before, after, strict=True))
        # Totals that shrink: the statistics were reset, or two files ran into one.
        if min(length, added, failed) < 0 or len(slices) >= MOST_SLICES:
            return ()
        if length:
            start_s = float(before[0] - totals[0][0])
            slices.append(slice_of(start_s, float(length), added, failed))
    return tuple(slices)


def slice_of(start_s: float, length_s: float, requests: int, failed: int) -> TimeSlice:
    """A slice; which of the failed had a response is not said, so then nor what completed."""
    return TimeSlice(
        start_s=start_s,
        length_s=length_s,
        completed=None if failed else requests,
        failed=failed,
        reported_rps=requests / length_s if failed else None,
    )


def read_failures(table: Table) -> ParsedTrial:
    """The failures of the file *_failures.csv; nothing else is in it."""
    names = failures_of(table)
    return ParsedTrial(failed=sum(names.values()), errors=by_class(names), tool_errors=names)


def failures_of(table: Table) -> dict[str, int]:
    """The count of each failure by its name."""
    names: dict[str, int] = {}
    for row in table.rows:
        name = f"{row['Method']} {row['Name']}: {row['Error']}"
        names[name] = names.get(name, 0) + _count(table, row, "Occurrences")
    return names


def exceptions_of(table: Table) -> dict[str, int]:
    """The count of each exception of the test's own code."""
    return {f"exception: {row['Message']}": _count(table, row, "Count") for row in table.rows}


def _trial(
    requests: int,
    failures: int,
    latency: Latency,
    *,
    rate: float | None = None,
    timeline: tuple[TimeSlice, ...] = (),
    incomplete: bool = False,
) -> ParsedTrial:
    points = latency.percentiles
    return ParsedTrial(
        requests_completed=None if failures else requests,
        requests_ok=requests - failures,
        attempts=requests,
        failed=failures,
        reported_rps=rate,
        errors={} if failures else by_class({}),
        tool_errors={"Failure Count": failures} if failures else {},
        latency=latency if requests else Latency(),
        latency_origin=("percentiles" if len(points) > 1 else "summary") if requests else None,
        latency_resolution_us=1000,
        timeline=timeline,
        incomplete=incomplete,
    )


def with_failures(requests: int, names: Mapping[str, int]) -> dict[str, object]:
    """The fields of a trial that change when its failures are known by name."""
    return {
        "requests_completed": completed(requests, names),
        "errors": by_class(names),
        "tool_errors": dict(names),
    }


def _total(table: Table) -> Row:
    totals = [row for row in table.rows if row["Name"] in TOTALS]
    if not totals:
        raise _no_total(table)
    # A request may have the name that versions of another age give to the total.
    name = totals[-1]["Name"]
    if (count := sum(row["Name"] == name for row in totals)) > 1:
        raise several_totals("locust stats file", count, f"the name {name}", table.line)
    return totals[-1]


def _no_total(table: Table) -> FormatError:
    return _broken(table.kind, table.line, f"{len(table.rows)} rows", "a row named Aggregated")


def _count(table: Table, row: Row, name: str) -> int:
    count = parse_count(row.get(name, ""))
    if count is None:
        raise _broken(table.kind, table.line, f"{name} {row.get(name)}", "a whole number")
    return count


def _figure(table: Table, row: Row, name: str) -> float | None:
    """The number of a cell, which Python may have written with an exponent; None if not there."""
    text = row.get(name)
    if text is None or text in ("", "N/A"):
        return None
    value = parse_float(text)
    if value is None or value < 0:
        raise _broken(table.kind, table.line, f"{name} {text}", "a number")
    return value


def _us(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds * 1000, 3)


def _broken(kind: str, line: int, found: str, expected: str) -> FormatError:
    return FormatError(
        f"The locust {kind} file cannot be read.", line=line, found=found, expected=expected
    )
