"""wrk (text, with and without --latency).

Loop: closed. Latency unit: printed per figure (us, ms, s); bytes in steps of 1024.
Success: status below 400; wrk counts the others as "Non-2xx or 3xx responses".
Percentiles: the first 1-µs bucket whose cumulative count reaches round(p/100·n + 0.5); from
version 4.1 on, wrk adds samples of its own for slow responses, so its figures are not those of
the requests measured. A late response (timeout) is in the requests and not in the latency.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from backend.formats.model import FormatError, ParsedTrial
from backend.formats.text import Line, Source
from backend.formats.wrk.report import (
    REFUSED,
    Report,
    is_start,
    is_wrk2,
    report_blocks,
    threads_and_connections,
)

NAME = "wrk"
MARKS = ("Running", "unable to connect")


def claims(source: Source) -> str | None:
    """Why this is wrk's output, or None."""
    if is_wrk2(source.text):
        return None
    for line, following in pairwise([*source.lines, Line(0, "")]):
        if line.text.startswith(REFUSED):
            return f"line {line.number} is wrk's message that it could not connect"
        if is_start(line) and threads_and_connections(following):
            return f"line {line.number} says Running … test @, the next names threads"
    return None


def read(sources: Sequence[Source]) -> list[ParsedTrial | FormatError]:
    """Every run in the sources, in order."""
    blocks = [block for source in sources for block in report_blocks(source.lines)]
    if not blocks:
        raise _refused(sources)
    return [_read_or_refuse(block) for block in blocks]


def _refused(sources: Sequence[Source]) -> FormatError:
    lines = (line for source in sources for line in source.lines)
    line = next(line for line in lines if line.text.startswith(REFUSED))
    return FormatError(
        "wrk stopped before the run: it could not connect.",
        tool=NAME,
        line=line.number,
        found=line.text,
    )


def _read_or_refuse(block: Sequence[Line]) -> ParsedTrial | FormatError:
    try:
        return Report(block).trial()
    except FormatError as refused:
        return refused
