"""hey (text, -o csv of every request), under its old name boom too; also the boom in Python.

Loop: closed, also with -q. Latency unit: seconds with 4 decimals, so steps of 100 µs.
Success: status 2xx and 3xx, ours, for hey has no notion of it; it follows redirects, so statuses
are those of the last answer. Percentiles: the sorted value number ⌈n·p/100⌉, counted from 0, one
above nearest rank; where the sample is too small for one, hey prints 0 % and it is left out.
Requests/sec counts failed attempts since 0.1.0, answered ones before. Errors stand last in the
text: without a sign that it is whole they are unknown. The CSV has no row for a failed attempt
and no total. hey keeps statuses and latencies of its first 1,000,000 responses only.
"""

from __future__ import annotations

from collections.abc import Sequence

from backend.formats.hey import boom
from backend.formats.hey.log import header_of, read_log
from backend.formats.hey.report import Report, starts_of
from backend.formats.model import FormatError, ParsedTrial
from backend.formats.text import Line, Source, blocks

NAME = "hey"
MARKS = ("Slowest:", "response-time", *boom.MARKS)


def claims(source: Source) -> str | None:
    """Why this is hey's output, or None."""
    if header_of(source) is not None:
        return "a line has the columns of hey -o csv"
    starts = starts_of(source.lines)
    if starts:
        return f"line {source.lines[starts[0]].number} begins hey's summary: Total, Slowest"
    return boom.claims(source)


def read(sources: Sequence[Source]) -> list[ParsedTrial | FormatError]:
    """Every run in the sources, in order; a log of requests is a run by itself."""
    logs = [source for source in sources if header_of(source) is not None]
    if logs and len(sources) > 1:
        raise FormatError(
            "These files are not of one trial: hey prints a text or a CSV, not both.",
            tool=NAME,
            found=", ".join(source.artefact.name for source in sources),
            expected="one file of hey",
        )
    if logs:
        return [read_log(logs[0])]
    runs = [run for source in sources for run in _reports(source)]
    return runs or [run for source in sources for run in boom.read(source)]


def _reports(source: Source) -> list[ParsedTrial | FormatError]:
    lines = source.lines
    return [_read_or_refuse(block) for block in blocks(lines, starts_of(lines))]


def _read_or_refuse(block: Sequence[Line]) -> ParsedTrial | FormatError:
    try:
        return Report(block).trial()
    except FormatError as refused:
        return refused
