"""k6's text at the end of a test: the layout of k6 1 in sections, and the one before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from backend.formats.k6.executors import Asked, asked_for
from backend.formats.k6.summary import DURATION, latency_of, outcome_of, sent_share
from backend.formats.model import Entry, FormatError, Latency, ParsedTrial
from backend.formats.numbers import (
    DECIMAL_UNITS,
    MICRO_SIGNS,
    TIME_UNITS_US,
    all_by_name,
    parse_amount,
    parse_count,
    parse_duration_us,
    parse_number,
    split_unit,
)
from backend.formats.refusals import read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.text import Line, Source

KNOWN = frozenset(
    ("http_reqs", DURATION, "http_req_failed", "iterations", "iteration_duration", "data_received")
)
CHECKS = "checks"
DOTS = "...:"
TOTAL, THRESHOLDS = "█ TOTAL RESULTS", "█ THRESHOLDS"
PARTS = ("█ GROUP: ", "█ SCENARIO: ", "↳ GROUP: ")
BANNER = "execution: "
# Standing before a metric in the layout before k6 1: whether its thresholds held.
MARKS_OF_THRESHOLDS = ("✓ ", "✗ ")
# Two decimals of the smallest unit that is printed.
RESOLUTION_US = 0.01


@dataclass
class _Run:
    """The lines of one run: the banner before its results, and the metrics of all of it."""

    first: Line
    last: Line
    before: list[Line] = field(default_factory=list)
    metrics: dict[str, tuple[Line, list[str]]] = field(default_factory=dict)
    in_sections: bool = False
    in_part: bool = False


def claims_text(source: Source) -> str | None:
    """Why this is k6's text, or None."""
    for line, following in zip(source.lines, [*source.lines[1:], Line(0, "")], strict=True):
        metric = _metric(line)
        if metric and metric[0] in KNOWN:
            return f"line {line.number} is k6's metric {metric[0]}"
        if line.text.startswith(BANNER + "local") and following.text.startswith(("script:", "out")):
            return f"line {line.number} is k6's banner"
    return None


def _metric(line: Line) -> tuple[str, list[str]] | None:
    """The name and the words behind it, of a line such as "http_reqs....: 170 47.6/s"."""
    head, dots, tail = line.text.partition(DOTS)
    if not dots or head.startswith("{"):
        return None
    name = head.rstrip(".")
    for mark in MARKS_OF_THRESHOLDS:
        name = name.removeprefix(mark)
    return name.strip(), tail.split()


def read_text(source: Source) -> list[Entry]:
    """Every run in the source."""
    ends = source.text.endswith(("\n", "\r"))
    unended = None if ends else source.lines[-1]
    return [
        of_lines(read_or_refuse(_Report(run, unended).trial), (run.first, run.last))
        for run in _runs(source.lines)
    ]


def _runs(lines: Sequence[Line]) -> Iterator[_Run]:
    run = _Run(lines[0], lines[0])
    for line in lines:
        if _starts_another(run, line):
            yield run
            run = _Run(line, line)
        run.last = line if line.text else run.last
        _add(run, line)
    if run.metrics or any(line.text.startswith(BANNER) for line in run.before):
        yield run


def _starts_another(run: _Run, line: Line) -> bool:
    metric = _metric(line)
    if metric and _is_of_another(run, metric[0]):
        return True
    has_results = bool(run.metrics) or run.in_sections
    if line.text.startswith((TOTAL, THRESHOLDS)):
        return has_results
    if not line.text.startswith(BANNER):
        return False
    # A run that was cut off has a banner and no results.
    return has_results or any(before.text.startswith(BANNER) for before in run.before)


def _is_of_another(run: _Run, name: str) -> bool:
    """Whether a metric is of the next run. The checks come first, and not all runs have them."""
    if name == CHECKS and not KNOWN.isdisjoint(run.metrics):
        return True
    return name in run.metrics and not run.in_part


def _add(run: _Run, line: Line) -> None:
    if line.text.startswith(TOTAL):
        run.in_sections = True
    elif run.in_sections and line.text.startswith(PARTS):
        run.in_part = True
    metric = _metric(line)
    if metric is None:
        run.before.append(line)
    elif not run.in_part and metric[1]:
        run.metrics[metric[0]] = (line, metric[1])


class _Report:
    def __init__(self, run: _Run, unended: Line | None) -> None:
        self.run = run
        # A line at the very end that has no line feed may have been cut off in a number.
        self.metrics = {
            name: words for name, (line, words) in run.metrics.items() if line != unended
        }

    def trial(self) -> ParsedTrial:
        count = self._count("http_reqs")
        rate = parse_number(self.metrics["http_reqs"][1].removesuffix("/s"))
        failed, judged = self._failed() or (None, count)
        dropped = self._count("dropped_iterations") if "dropped_iterations" in self.metrics else 0
        received, per_second = self._data()
        latency, step = self._latency(all_failed=failed == count)
        asked = asked_for(self.run.before)
        return ParsedTrial(
            loop="open" if dropped else asked.loop,
            connections=asked.connections,
            requested_rate_rps=self._requested_rate(asked, count),
            sent_share=sent_share(self._iterations(), dropped),
            requested_duration_s=asked.duration_s,
            **outcome_of(count, failed, judged),
            reported_rps=rate,
            bytes_received=received,
            transfer_rate_bytes_s=per_second,
            tool_errors=self._tool_errors(failed, dropped),
            latency=latency,
            latency_origin=latency.printed_origin,
            latency_resolution_us=step,
            incomplete=not self._is_whole(),
        )

    def _count(self, name: str) -> int:
        words = self.metrics.get(name, [])
        count = parse_count(words[0]) if len(words) >= 2 else None
        if count is None or not words[1].endswith("/s"):
            raise self._lacks(name)
        return count

    def _lacks(self, name: str) -> FormatError:
        line, words = self.run.metrics.get(name, (self.run.last, []))
        reason = f"has no {name} that can be read" if words else f"has no {name}"
        return line.refusal(
            f"The k6 text {reason}: it is cut off, or the script made no HTTP request.",
            expected=f"a line such as {name}......: 500     1957.717285/s",
        )

    def _failed(self) -> tuple[int, int] | None:
        """How many requests failed, of how many: the metric is true for the failed ones."""
        if "http_req_failed" not in self.metrics:
            return None
        pair = _pair(self.metrics["http_req_failed"])
        if pair is None:
            raise self._lacks("http_req_failed")
        return pair

    def _tool_errors(self, failed: int | None, dropped: int) -> dict[str, int]:
        counts = {} if failed is None else {"http_req_failed": failed}
        if dropped:
            counts["dropped_iterations"] = dropped
        checks = _pair(self.metrics.get("checks", []))
        failed_checks = _pair(self.metrics.get("checks_failed", []))
        if checks is not None:
            counts["checks_failed"] = checks[1] - checks[0]
        elif failed_checks is not None:
            counts["checks_failed"] = failed_checks[0]
        return counts

    def _data(self) -> tuple[int | None, float | None]:
        words = self.metrics.get("data_received", [])
        if len(words) != 4 or not words[3].endswith("/s"):
            return None, None
        received = parse_amount(words[0] + words[1], DECIMAL_UNITS)
        rate = parse_amount(words[2] + words[3].removesuffix("/s"), DECIMAL_UNITS)
        return None if received is None else round(received), rate

    def _latency(self, *, all_failed: bool) -> tuple[Latency, float | None]:
        printed = dict(word.split("=", 1) for word in self.metrics.get(DURATION, []) if "=" in word)
        printed.pop("count", None)
        figures = all_by_name({name: parse_duration_us(word) for name, word in printed.items()})
        if not figures:
            return Latency(), None
        if all_failed and not figures.get("max"):
            # Requests that never left took no time, which is no latency.
            return Latency(), None
        return latency_of(figures), _resolution_us(list(printed.values()))

    def _requested_rate(self, asked: Asked, count: int) -> float | None:
        """The iterations asked for a second, where an iteration made one request."""
        return asked.iterations_per_s if self._iterations() == count else None

    def _iterations(self) -> int:
        words = self.metrics.get("iterations", [])
        return (parse_count(words[0]) or 0) if words else 0

    def _is_whole(self) -> bool:
        """Whether the text has what k6 prints behind the requests."""
        if self.run.in_sections:
            return "data_received" in self.metrics and "data_sent" in self.run.metrics
        names = list(self.run.metrics)
        return names[-1] != "http_reqs"


def _pair(words: Sequence[str]) -> tuple[int, int] | None:
    """The true ones and all, of "2.66% 4 out of 150" or, before k6 0.49, "✓ 4 ✗ 146"."""
    counts = [count for word in words[1:] if (count := parse_count(word)) is not None]
    if len(counts) != 2 or not words[0].endswith("%"):
        return None
    true, other = counts
    total = other if "out" in words else true + other
    return (true, total) if true <= total else None


def _resolution_us(words: Sequence[str]) -> float:
    """The smallest step: of µs, unless --summary-time-unit made all figures ms or s."""
    parts = [split_unit(word.translate(MICRO_SIGNS)) for word in words]
    units = {unit for _, unit in parts}
    decimals = all(len(digits.partition(".")[2]) == 2 for digits, _ in parts)
    if len(units) == 1 and decimals and any(_is_forced(*part) for part in parts):
        return RESOLUTION_US * TIME_UNITS_US[parts[0][1]]
    return RESOLUTION_US


def _is_forced(digits: str, unit: str) -> bool:
    """Whether k6 would have chosen another unit for this figure, or fewer decimals."""
    value = parse_number(digits) or 0.0
    return digits.endswith("0") or value < 1 or (unit != "s" and value >= 1000)
