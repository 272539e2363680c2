"""wrk (text, with and without --latency).

Loop: closed. Latency unit: printed per figure (us, ms, s); bytes in steps of 1024.
Success: status below 400; wrk counts the others as "Non-2xx or 3xx responses".
Percentiles: the first 1-µs bucket whose cumulative count reaches round(p/100·n + 0.5); from
version 4.1 on, wrk adds samples of its own for slow responses, so its figures are not those of
the requests measured. A late response (timeout) is in the requests and not in the latency.
Without its first lines a report is read, with url and connections unknown, unless it could be
wrk2's as well.
"""

from collections.abc import Sequence
from dataclasses import replace

from backend.formats.model import Entry, FormatError, ParsedTrial
from backend.formats.refusals import read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.text import Line, Source, first_with
from backend.formats.together import read_each
from backend.formats.wrk.report import (
    REFUSED,
    Report,
    asks_rate,
    commands_in,
    is_start,
    is_stats_head,
    is_wrk2,
    report_blocks,
)
from backend.formats.wrk.thread_rates import threads_rate

KEEPS_CONNECTIONS = True
PRINTS_TWO_DECIMALS = True
PERCENTILE_OPTION = "--latency"
DISTRIBUTION = "Latency Distribution"
MARKS = ("threads and", "Thread Stats", "unable to connect")
ENDS = ("Transfer/sec:",)


def claims(source: Source) -> str | None:
    """Why this is wrk's output, or None."""
    if is_wrk2(source.text):
        return None
    refused = first_with(source.lines, REFUSED)
    if refused is not None:
        return f"line {refused.number} is wrk's message that it could not connect"
    for block in report_blocks(source.lines):
        if asks_rate(commands_in(source.lines), block):
            return None
        if is_start(block[0]):
            return f"line {block[0].number} says {block[0].words[0]} …, the next names threads"
        return f"line {block[0].number} belongs to a report of wrk whose first lines are missing"
    return None


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the sources, in order."""
    runs = read_each(_runs, sources)
    if not runs:
        raise _refused(sources)
    return runs


def _runs(source: Source) -> list[Entry]:
    commands = commands_in(source.lines)
    return [
        of_lines(read_or_refuse(_read_block, block, asks_rate(commands, block)), block)
        for block in report_blocks(source.lines)
    ]


def _refused(sources: Sequence[Source]) -> FormatError:
    line = first_with((line for source in sources for line in source.lines), REFUSED)
    if line is None:
        return FormatError("This part has no report of wrk.")
    return line.refusal("wrk stopped before the run: it could not connect.")


def _read_block(block: Sequence[Line], is_below_wrk2: bool) -> ParsedTrial:
    _refuse_what_may_be_wrk2(block, is_below_wrk2)
    trial = Report(block).trial()
    return replace(trial, threads_rps=threads_rate(trial, block))


def _refuse_what_may_be_wrk2(block: Sequence[Line], is_below_wrk2: bool) -> None:
    if is_below_wrk2:
        raise block[0].refusal(
            "This report is from wrk2, as the command above it asks for a rate, and others in this "
            "text are from wrk.",
            expected="one tool's reports at a time",
        )
    # wrk2 tells itself by lines above the statistics, or by its distribution.
    if is_stats_head(block[0]) and not any(line.text == DISTRIBUTION for line in block):
        raise block[0].refusal(
            "The first lines of the report are missing, so it may be from wrk or from wrk2.",
            expected='the line "2 threads and 10 connections" above it',
        )
