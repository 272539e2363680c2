"""bombardier's text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.numbers import (
    BINARY_UNITS,
    all_by_name,
    parse_amount,
    parse_count,
    parse_duration_s,
    parse_duration_us,
    parse_number,
    step_us,
)
from backend.formats.statuses import CLASSES, failed, succeeded
from backend.formats.text import Line, last_line
from backend.formats.transport_errors import counted_classes

INTRO = "Bombarding "
DISTRIBUTION = "Latency Distribution"
OF_ALL = ("distribution", "(total)", "(all)")
HEADER = ["Statistics", "Avg", "Stdev", "Max"]
ERRORS, THROUGHPUT = "Errors:", "Throughput:"
# Below 0.85 KB a rate has no unit.
SIZE_UNITS = {**BINARY_UNITS, "": 1, "PB": 1 << 50}
# Until 0.4 the failed attempts were counted together, and called errored.
OTHERS = ("others", "errored")


@dataclass(frozen=True, slots=True)
class FoundReport:
    """The lines of a run: what was asked for, if it is said, and the statistics, if reached."""

    lines: Sequence[Line]
    asked: Line | None
    is_reached: bool

    @property
    def all_lines(self) -> Sequence[Line]:
        return self.lines if self.asked is None else [self.asked, *self.lines]


def find_reports(lines: Sequence[Line]) -> list[FoundReport]:
    """Every run in the lines, in order: it begins with what is asked for or with statistics."""
    reports: list[FoundReport] = []
    asked: Line | None = None
    starts = [at for at, line in enumerate(lines) if _is_intro(line) or line.words == HEADER]
    for at, end in pairwise([*starts, len(lines)]):
        if _is_intro(lines[at]):
            if asked is not None:
                reports.append(FoundReport([asked], asked, is_reached=False))
            asked = lines[at]
        else:
            reports.append(FoundReport(lines[at:end], asked, is_reached=True))
            asked = None
    if asked is not None:
        reports.append(FoundReport([asked], asked, is_reached=False))
    return reports


def _is_intro(line: Line) -> bool:
    return line.text.startswith(INTRO) and line.words[-1] in ("connections", "connection(s)")


def outcome_of(counts: Mapping[str, int], others: int) -> dict[str, Any]:
    """All attempts and the failed ones, which are named or counted together as others."""
    return {"attempts": sum(counts.values()) + others, "failed": failed(counts) + others}


class Report:
    """One report, line by line."""

    def __init__(self, report: FoundReport) -> None:
        self.report = report
        self.texts = [line.text for line in report.lines if line.text]
        # A last line that may have lost its end says nothing.
        if report.lines[-1].text and not report.lines[-1].text.endswith("/s"):
            self.texts.pop()

    def trial(self) -> ParsedTrial:
        """The trial of a run; raises FormatError if there is none."""
        counts = self._counts()
        others = self._others()
        if not self.report.is_reached or counts is None or others is None:
            raise self._cut_off()
        failures = dict(self._failures())
        ended = any(text.startswith(THROUGHPUT) for text in self.texts)
        # Before the last line some failures may be cut off.
        are_failures_whole = ended or sum(failures.values()) == others
        latency, step = self._latency()
        return ParsedTrial(
            **self._asked(),
            requests_completed=sum(counts.values()),
            requests_ok=succeeded(counts),
            **outcome_of(counts, others),
            reported_rps=parse_number(self._row("Reqs/sec")[0]),
            transfer_rate_bytes_s=self._throughput(),
            errors={
                **(self._classes(failures, others) if are_failures_whole else {}),
                "status": failed(counts),
            },
            tool_errors=self._named(failures, others) if are_failures_whole else {},
            status_counts=counts,
            latency=latency,
            latency_origin=latency.printed_origin,
            latency_resolution_us=step,
            incomplete=not ended,
        )

    def _cut_off(self) -> FormatError:
        return last_line(self.report.lines).refusal(
            "The bombardier report is cut off before its HTTP codes and others.",
            expected='lines such as "1xx - 0, 2xx - 1000, …" and "others - 0"',
        )

    def _asked(self) -> dict[str, Any]:
        """URL, connections, and requests or duration, of "Bombarding … for 3s using …"."""
        words = self.report.asked.words if self.report.asked else []
        if len(words) < 6 or words[-3] != "using":
            return {}
        asked: dict[str, Any] = {"url": words[1], "connections": parse_count(words[-2])}
        if words[2] == "with":
            return {**asked, "requested_requests": parse_count(words[3])}
        return {**asked, "requested_duration_s": parse_duration_s(words[3])}

    def _row(self, label: str) -> list[str]:
        """The three figures behind a label: average, standard deviation, maximum; "" for none."""
        rows = (text.split() for text in self.texts)
        return next((row[1:] for row in rows if row[0] == label and len(row) == 4), [""] * 3)

    def _latency(self) -> tuple[Latency, float | None]:
        row = self._row("Latency")
        points = dict(self._points())
        printed = [*row, *points.values()]
        steps = [step for step in map(step_us, printed) if step is not None]
        mean, stdev, highest = (parse_duration_us(word) for word in row)
        figures = {name: parse_duration_us(word) for name, word in points.items()}
        latency = Latency(
            mean_us=mean,
            stdev_us=stdev,
            max_us=highest,
            percentiles={name: figure for name, figure in figures.items() if figure is not None},
        )
        return latency, max(steps, default=None)

    def _points(self) -> Iterator[tuple[str, str]]:
        """The rows of the distribution over all requests; variants print one of 2xx below it."""
        titles = [at for at, text in enumerate(self.texts) if text.startswith(DISTRIBUTION)]
        of_all = [at for at in titles if self.texts[at].lower().endswith(OF_ALL)]
        start = next(iter(of_all or titles), len(self.texts))
        for words in takewhile(_is_point, map(str.split, self.texts[start + 1 :])):
            yield words[0][:-1], words[1]

    def _counts(self) -> dict[str, int] | None:
        for text in self.texts:
            pairs = [part.split() for part in text.split(",")]
            if text.startswith("1xx - ") and all(len(pair) == 3 for pair in pairs):
                counts = all_by_name({pair[0]: parse_count(pair[2]) for pair in pairs})
                return counts if counts and counts.keys() == set(CLASSES) else None
        return None

    def _others(self) -> int | None:
        for text in self.texts:
            words = text.split()
            if len(words) == 3 and words[0] in OTHERS and words[1] == "-":
                return parse_count(words[2])
        return None

    def _failures(self) -> Iterator[tuple[str, int]]:
        position = self.texts.index(ERRORS) if ERRORS in self.texts else len(self.texts)
        for text in self.texts[position + 1 :]:
            message, dash, count = text.rpartition(" - ")
            failed = parse_count(count) if dash else None
            if failed is None:
                return
            yield message.strip(), failed

    def _classes(self, failures: dict[str, int], others: int) -> dict[str, int]:
        return {} if others and not failures else counted_classes(failures)

    def _named(self, failures: dict[str, int], others: int) -> dict[str, int]:
        """By text; where there are none, under the tool's word for all of them."""
        return {"others": others} if others and not failures else failures

    def _throughput(self) -> float | None:
        for text in self.texts:
            if text.startswith(THROUGHPUT) and text.endswith("/s"):
                return parse_amount(text.split()[-1].removesuffix("/s"), SIZE_UNITS)
        return None


def _is_point(words: Sequence[str]) -> bool:
    is_point = len(words) == 2 and words[0].endswith("%")
    return is_point and parse_count(words[0][:-1]) is not None
