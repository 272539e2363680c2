"""The text fortio prints on stderr, between log lines."""

import math
from collections.abc import Sequence
from typing import Any

from backend.formats.fortio.documents import FAILED
from backend.formats.model import Entry, FormatError, Latency, ParsedTrial
from backend.formats.numbers import parse_count, parse_duration_s, parse_float, scaled
from backend.formats.refusals import read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.statuses import failed, succeeded
from backend.formats.text import Line, Source, blocks, first_with, last_line

TIMES = "Aggregated Function Time :"
ENDED, DONE = "Ended after ", "All done "
SIZES = "Response Body/Total Sizes :"
# With the standard client of Go these are 0, and the sizes are those of bodies.
HEADERS = "Response Header Sizes :"
# fortio's own: the text names none, and shows a finer one in the bounds of its buckets.
DEFAULT_RESOLUTION_US = 1000


def find_reports(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of each report, from its banner on, or from the first without one."""
    starts = [position for position, line in enumerate(lines) if _is_banner(line)]
    if starts:
        return blocks(lines, starts)
    return [list(lines)] if first_with(lines, TIMES) else []


def _is_banner(line: Line) -> bool:
    words = line.words
    return len(words) > 5 and words[0] == "Fortio" and words[2:4] == ["running", "at"]


def read_reports(source: Source) -> list[Entry]:
    """Every run in the source."""
    ended = source.text.endswith(("\n", "\r"))
    reports = find_reports(source.lines)
    # A last line without its line feed may have been cut off in a number.
    wholes = (report if ended or len(report) < 2 else report[:-1] for report in reports)
    return [of_lines(read_or_refuse(_Report(report).trial), report) for report in wholes]


class _Report:
    def __init__(self, block: Sequence[Line]) -> None:
        self.block = block

    def trial(self) -> ParsedTrial:
        times = _pairs(self._after(TIMES))
        calls = parse_count(times.get("count", ""))
        codes = self._codes()
        if calls is None or sum(codes.values()) != calls:
            raise self._cut_off(calls, sum(codes.values()))
        answered = {code: count for code, count in codes.items() if code != FAILED}
        latency = self._latency(times) if calls else Latency()
        done = self._after(DONE)
        received, bodies = self._sizes()
        return ParsedTrial(
            **self._asked(),
            elapsed_s=parse_duration_s(self._after(ENDED).partition(" ")[0]),
            requests_completed=sum(answered.values()),
            requests_ok=succeeded(answered),
            reported_rps=self._rate(),
            bytes_received=received,
            body_bytes=bodies,
            errors={"status": failed(answered), "other": codes.get(FAILED, 0)},
            tool_errors=self._tool_errors(codes),
            status_counts=answered,
            latency=latency,
            latency_origin=None if latency == Latency() else "histogram",
            latency_resolution_us=self._resolution_us() if calls else None,
            incomplete=not done,
        )

    def _after(self, label: str) -> str:
        line = first_with(self.block, label)
        return line.text.removeprefix(label) if line else ""

    def _cut_off(self, calls: int | None, coded: int) -> FormatError:
        last = last_line(self.block)
        reason = (
            "The fortio report is cut off before its times."
            if calls is None
            else f"The fortio report has codes of {coded} of its {calls} calls: it is cut off, "
            "or not of an HTTP run."
        )
        return last.refusal(
            reason, expected='a line such as "Code 200 : 600 (100.0 %)" for each status'
        )

    def _codes(self) -> dict[str, int]:
        counted: dict[str, int] = {}
        for line in self.block:
            words = line.words
            if len(words) >= 4 and words[0] == "Code" and words[2] == ":":
                count = parse_count(words[3])
                if count is not None and (words[1] == FAILED or parse_count(words[1]) is not None):
                    counted[words[1]] = count
        return counted

    def _sizes(self) -> tuple[int | None, int | None]:
        """The bytes of all responses, and of their bodies."""
        sizes, headers = (
            _seconds(_pairs(self._after(label)).get("sum", "")) for label in (SIZES, HEADERS)
        )
        if sizes is None:
            return None, None
        return round(sizes), None if headers is None else round(sizes - headers)

    def _asked(self) -> dict[str, Any]:
        """What the banner, the line behind it and the sockets say was asked for."""
        head, _, url = self.block[0].text.rpartition(": ")
        words = head.split()
        if not _is_banner(self.block[0]) or len(words) < 5:
            return {"connections": self._threads()}
        rate, asked = _seconds(words[4]), words[words.index("for") + 1 :] if "for" in words else []
        calls = parse_count(asked[0]) if asked[1:] == ["calls"] else None
        return {
            "tool_version": words[1],
            "url": url.split()[0] if url.split() else None,
            "connections": self._threads(),
            "requested_rate_rps": rate or None,
            "requested_requests": calls,
            "requested_duration_s": parse_duration_s(asked[0]) if len(asked) == 1 else None,
        }

    def _threads(self) -> int | None:
        """Of "Starting at max qps with 10 thread(s)", else of the sockets' line."""
        words = self._after("Starting at ").split()
        if "thread(s)" in words:
            return parse_count(words[words.index("thread(s)") - 1])
        _, mark, count = self._after("Sockets used:").rpartition("would be ")
        return parse_count(count.rstrip(") ")) if mark else None

    def _rate(self) -> float | None:
        """The rate behind the run, or with fewer digits in the last line."""
        _, mark, rate = self._after(ENDED).rpartition("qps=")
        words = self._after(DONE).split()
        if mark:
            return _seconds(rate.strip())
        return _seconds(words[-2]) if words[-1:] == ["qps"] else None

    def _tool_errors(self, codes: dict[str, int]) -> dict[str, int]:
        failed = parse_count(_pairs(self._after("Error cases :")).get("count", ""))
        counted = {FAILED: codes[FAILED]} if codes.get(FAILED) else {}
        return {**counted, **({"Error cases": failed} if failed else {})}

    def _latency(self, times: dict[str, str]) -> Latency:
        return Latency(
            mean_us=scaled(_seconds(times.get("avg", "")), 1e6),
            stdev_us=scaled(_seconds(times.get("+/-", "")), 1e6),
            min_us=scaled(_seconds(times.get("min", "")), 1e6),
            max_us=scaled(_seconds(times.get("max", "")), 1e6),
            percentiles=self._percentiles(),
        )

    def _table(self) -> list[Line]:
        """The lines of the function times: other tables of the report look the same."""
        begin = next(n for n, line in enumerate(self.block) if line.text.startswith(TIMES))
        table = []
        for line in self.block[begin + 1 :]:
            if "<=" not in line.text and not line.text.startswith(("#", "{")):
                break
            table.append(line)
        return table

    def _percentiles(self) -> dict[str, float]:
        points: dict[str, float] = {}
        for line in self._table():
            words = line.words
            if words[:2] == ["#", "target"] and len(words) == 4 and words[2].endswith("%"):
                percent, value = _seconds(words[2][:-1]), scaled(_seconds(words[3]), 1e6)
                if percent is not None and value is not None:
                    points[f"{percent:.12g}"] = value
        return points

    def _resolution_us(self) -> float:
        """fortio's own, or a finer one that the bounds between buckets show."""
        ends = [line.text.partition("<=")[2].split(",")[0] for line in self._table()]
        # The last bucket ends at the longest time. In tenths of a µs, to count in whole numbers.
        tenths = [round((scaled(_seconds(end.strip()), 1e6) or 0) * 10) for end in ends if end][:-1]
        step = math.gcd(*tenths) / 10 if any(tenths) else DEFAULT_RESOLUTION_US
        return min(step, DEFAULT_RESOLUTION_US)


def _pairs(text: str) -> dict[str, str]:
    """{"count": "3000", "avg": "0.0008"} of "count 3000 avg 0.0008"."""
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=False))


def _seconds(word: str) -> float | None:
    """The number of "7.0402e-05"; None if it is none, or below 0."""
    value = parse_float(word)
    return value if value is not None and value >= 0 else None
