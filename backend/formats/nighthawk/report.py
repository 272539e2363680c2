"""The text of nighthawk_client: a section for each statistic, then the counters. As CSV it has the
same sections with commas."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from backend.formats.model import Latency, ParsedTrial
from backend.formats.nighthawk.counters import LATENCY, SENT, named_points, trial_of
from backend.formats.numbers import (
    parse_count,
    parse_duration_us,
    parse_number,
)
from backend.formats.text import Line, Source, blocks, last_line

TITLE = "Nighthawk - A layer 7 protocol benchmarking tool"
RESOLUTION_US = 1
# Lines above the title in which the load stands.
LINES_ABOVE = 40
COUNTERS = ("Counter", "Value", "Per", "second")
# Of older versions, before each counter's name.
PREFIX = "client."
_SECTION = re.compile(rf"(?:{re.escape(LATENCY[0])}|{LATENCY[1]})(?: \((\d{{1,18}}) samples\))?")
_NAMES = ("min", "mean", "max", "pstdev")
_ROWS = (*_NAMES, "percentile", "samples:")
_TARGETS = re.compile(r"Global targets: (\d{1,9}) connections and (\d{1,12}) calls per second")
_THREADS = re.compile(r"Starting (\d{1,6}) threads .{0,40}Test duration: (\d{1,9}) second")


@dataclass(frozen=True, slots=True)
class Report:
    """A run's lines from the title on, and those above it, where the load stands."""

    start: Line
    above: Sequence[Line]
    lines: Sequence[Line]


def find_reports(source: Source) -> list[Report]:
    """Every run in the text: from the title, or from a section of latency without that."""
    # What stands behind the last line feed is nothing, or a line that was cut off.
    lines, starts = source.lines[:-1], list[int]()
    is_latency_seen = True
    for at, line in enumerate(lines):
        is_title = line.text.startswith(TITLE)
        is_section = _SECTION.fullmatch(line.text) is not None
        if is_title or (is_section and is_latency_seen):
            starts.append(at)
        is_latency_seen = is_section or (is_latency_seen and not is_title)
    ends = [0, *starts]
    return [
        Report(block[0], lines[max(end, start - LINES_ABOVE) : start], block)
        for end, start, block in zip(ends, starts, blocks(lines, starts), strict=False)
    ]


def read_report(report: Report) -> ParsedTrial:
    """The trial of a run; raises FormatError where it has neither latency nor counters."""
    at = next((at for at, line in enumerate(report.lines) if _SECTION.fullmatch(line.text)), None)
    latency = Latency() if at is None else _latency(report.lines[at + 1 :])
    rows = list(_counters(report.lines))
    counters, rates = (
        {name: count for name, count, _ in rows},
        {name: rate for name, _, rate in rows},
    )
    # They are in the order of their names: with the requests sent, all of HTTP were printed.
    is_whole = SENT in counters
    if latency == Latency() and not is_whole:
        raise last_line(report.lines).refusal(
            "The nighthawk report is cut off before its latencies, or has no requests.",
            expected=f'the section "{LATENCY[1]}" and the counters below it',
        )
    return trial_of(
        counters if is_whole else None,
        latency,
        latency_resolution_us=None if latency == Latency() else RESOLUTION_US,
        loop=None,
        exact_elapsed_s=_elapsed_s(rows),
        reported_rps=rates.get(SENT),
        incomplete=not is_whole,
        **_asked(report.above),
    )


def _asked(lines: Sequence[Line]) -> dict[str, Any]:
    """Connections, rate, threads and duration of the log lines above."""
    asked: dict[str, Any] = {}
    for line in lines:
        if targets := _TARGETS.search(line.text):
            asked |= {"connections": int(targets[1]), "requested_rate_rps": float(targets[2])}
        if threads := _THREADS.search(line.text):
            asked |= {"threads": int(threads[1]), "requested_duration_s": float(threads[2])}
    return asked


def _latency(lines: Sequence[Line]) -> Latency:
    """The figures of the section that begins with the lines."""
    section = list(_section(lines))
    figures = dict(chain.from_iterable(_figures(*pair) for pair in section))
    steps = [step for _, line in section if (step := _step(line))]
    # In older versions least and greatest are the first and the last step.
    ends = {percent: us for percent, us in steps if percent in (0, 100)}
    return Latency(
        mean_us=figures.get("mean"),
        stdev_us=figures.get("pstdev"),
        min_us=figures.get("min", ends.get(0)),
        max_us=figures.get("max", ends.get(100)),
        percentiles=named_points(steps),
    )


def _section(lines: Sequence[Line]) -> Iterator[tuple[Line, Line]]:
    """Each line of a section and the one before, up to the name of the next section."""
    before = Line(0, "")
    for line in lines:
        if _is_name(line):
            return
        yield before, line
        before = line


def _is_name(line: Line) -> bool:
    """Whether a line is the name of another section, or the head of the counters."""
    return line.text[:1].isalpha() and not line.text.lower().startswith(_ROWS)


def _figures(before: Line, line: Line) -> list[tuple[str, float]]:
    """Name and µs of each figure of "min: 0s 000ms 410us | mean: …", or of the row of a CSV."""
    pairs = [part.partition(":")[::2] for part in line.text.split("|")]
    if before.text.lower().split(",") == list(_NAMES):
        pairs = list(zip(_NAMES, line.text.split(","), strict=False))
    figures = ((name.strip(), parse_duration_us(text.strip())) for name, text in pairs)
    return [(name, us) for name, us in figures if us is not None and name in _NAMES]


def _step(line: Line) -> tuple[float, float] | None:
    """Percentile and µs of "0.5  4997  0s 000ms 111us", or of the same with commas."""
    cells = line.text.split(",") if "," in line.text else line.text.split(None, 2)
    if len(cells) not in (3, 4):
        return None
    fraction, us = parse_number(cells[0]), parse_duration_us(cells[-1].strip())
    is_step = fraction is not None and fraction <= 1 and parse_count(cells[1]) is not None
    return (100 * fraction, us) if is_step and fraction is not None and us is not None else None


def _counters(lines: Sequence[Line]) -> Iterator[tuple[str, int, float]]:
    """Name, count and count per second of each counter."""
    heads = [at for at, line in enumerate(lines) if _words(line) == list(COUNTERS)]
    for line in lines[heads[0] + 1 :] if heads else ():
        words = _words(line)
        count = parse_count(words[1]) if len(words) == 3 else None
        rate = parse_number(words[2]) if len(words) == 3 else None
        if count is None or rate is None:
            return
        yield words[0].removeprefix(PREFIX), count, rate


def _words(line: Line) -> list[str]:
    return line.text.replace(",", " ").split()


def _elapsed_s(rows: Sequence[tuple[str, int, float]]) -> float | None:
    """The time in which the largest counter made its rate, which has two decimals."""
    _, count, rate = max(rows, key=lambda row: row[1], default=("", 0, 0.0))
    return round(count / rate, 6) if rate else None
