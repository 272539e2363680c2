"""The report that wrk prints, and wrk2 too."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Any

import orjson

from backend.formats.blocks import is_log_record
from backend.formats.model import UNANSWERED_CLASSES, FormatError, Latency, ParsedTrial
from backend.formats.numbers import (
    BINARY_UNITS,
    implied_elapsed_s,
    parse_amount,
    parse_count,
    parse_duration_us,
    parse_number,
    step_us,
)
from backend.formats.text import Line, blocks, first_with, last_line

# The second is that of versions before 2.0, which were asked for a number of requests.
STARTS = (("Running ", " test @ "), ("Making ", " requests to "))
# What begins a report, or a later part of one.
START, THREADS, STATS = range(3)
WRK2_MARKS = ("Thread calibration:", "HdrHistogram - ")
# A command of wrk or wrk2, and the option that wrk2 alone has and needs.
COMMAND = re.compile(r"(?:^|[\s/])wrk2?(?:\.exe)?\s")
RATE_OPTION = re.compile(r"\s(?:-R|--rate)[= ]{0,4}\d")
# Of Requests/sec.
RATE_STEP = 0.01
REFUSED = "unable to connect to "
ERRORS = re.compile(r"Non-2xx or 3xx responses: \d+|Socket errors:(?: [a-z]+ \d+,?)+")
# In this order.
SOCKETS, NON_2XX, RATE = "Socket errors:", "Non-2xx or 3xx responses:", "Requests/sec:"


def is_start(line: Line) -> bool:
    """Whether this is a report's first line; autocannon has one too, with another second line."""
    return any(line.text.startswith(begin) and then in line.text for begin, then in STARTS)


def threads_and_connections(line: Line) -> tuple[int, int] | None:
    words = line.words
    if len(words) < 5 or words[1:3] != ["threads", "and"] or words[4] != "connections":
        return None
    threads, connections = parse_count(words[0]), parse_count(words[3])
    return None if threads is None or connections is None else (threads, connections)


def is_wrk2(text: str) -> bool:
    """Whether a report is wrk2's: it names itself nowhere, but prints these where wrk does not."""
    return any(mark in text for mark in WRK2_MARKS) or any(
        # The sign of what is no number depends on the processor.
        line.split()[:2] in (["Req/Sec", "-nan"], ["Req/Sec", "nan"])
        for line in text.splitlines()
        if "nan" in line
    )


def commands_in(lines: Sequence[Line]) -> list[tuple[int, bool]]:
    """The line of each command of wrk or wrk2, and whether it asks for a rate, as wrk2's do."""
    return [
        (line.number, RATE_OPTION.search(line.text) is not None)
        for line in lines
        if COMMAND.search(line.text)
    ]


def asks_rate(commands: Sequence[tuple[int, bool]], block: Sequence[Line]) -> bool:
    """Whether the last command above a report asks for a rate."""
    above = bisect_left(commands, (block[0].number, False))
    return above > 0 and commands[above - 1][1]


def report_blocks(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of each report; one whose first lines are missing begins with its next part.

    A part that stands where it has already been, or an earlier one than the last, begins a report.
    """
    starts: list[int] = []
    reached = STATS
    for position, part in _parts(lines):
        if part <= reached:
            starts.append(position)
        reached = part
    return blocks(lines, starts)


def _parts(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Where the first line, the line of threads and the head of the statistics stand."""
    before = Line(0, "")
    for position, (line, after) in enumerate(pairwise([*lines, Line(0, "")])):
        if is_start(line) and threads_and_connections(after):
            yield position, START
        elif threads_and_connections(line) and (is_start(before) or _is_behind_threads(after)):
            yield position, THREADS
        elif is_stats_head(line):
            yield position, STATS
        before = line


def _is_behind_threads(line: Line) -> bool:
    return is_stats_head(line) or line.text.startswith(WRK2_MARKS[0])


def is_stats_head(line: Line) -> bool:
    """Whether this is the head of the rows Latency and Req/Sec."""
    words = line.words
    return words[:4] == ["Thread", "Stats", "Avg", "Stdev"] and words[5:] == ["+/-", "Stdev"]


class Report:
    """One report, line by line."""

    def __init__(self, block: Sequence[Line], *, is_late_waiting: bool = False) -> None:
        # What a script printed stands behind the last line. So may the end of another report.
        self.block, self.behind = _parted_at(block, "Transfer/sec:")
        # A failure is never passed over, also where somebody moved its line. With another rate
        # behind, the line is of another report.
        self.with_errors = [*self.block, *self._moved_errors()]
        # Versions before 2.0, and wrk2, count what waits: it may be answered later or never. Others
        # count late responses, which are among the requests.
        self.is_late_waiting = is_late_waiting or block[0].text.startswith(STARTS[1][0])

    def trial(self) -> ParsedTrial:
        """The trial of the report's lines; raises FormatError where they are cut off."""
        threads, connections = self._threads_and_connections()
        url, duration_s, count = self._asked()
        requests, elapsed_us, step_s, received = self._totals()
        rate = self._rate()
        rate_rps = None if rate is None else parse_number(rate)
        transfer = parse_amount(_after(self.block, "Transfer/sec:") or "", BINARY_UNITS)
        status = self._non_2xx() if self._reaches(NON_2XX, RATE) else None
        sockets = self._socket_errors() if self._reaches(SOCKETS, NON_2XX, RATE) else {}
        latency, step = self._latency() if requests else (Latency(), None)
        return ParsedTrial(
            url=url,
            connections=connections,
            threads=threads,
            requested_requests=count,
            requested_duration_s=duration_s,
            elapsed_s=elapsed_us / 1e6,
            exact_elapsed_s=implied_elapsed_s(
                elapsed_us / 1e6,
                step_s=step_s,
                count=requests,
                rate_rps=rate_rps,
                rate_step=RATE_STEP,
            ),
            requests_completed=requests,
            requests_ok=self._ok(requests, status, sockets.get("timeout")),
            **self._outcome(requests, status, sockets),
            reported_rps=rate_rps,
            bytes_received=round(received),
            transfer_rate_bytes_s=transfer,
            errors={**sockets, "status": status},
            tool_errors=self._tool_errors(),
            latency=latency,
            latency_origin=latency.printed_origin,
            latency_resolution_us=step,
            incomplete=rate is None or transfer is None,
            extra=self._lua_json(),
        )

    def _asked(self) -> tuple[str | None, float | None, int | None]:
        """URL, seconds and requests of the first line; None for what it does not say."""
        first = self.block[0]
        if not is_start(first):
            return None, None, None
        begin, then = next(start for start in STARTS if first.text.startswith(start[0]))
        asked, _, url = first.text.removeprefix(begin).partition(then)
        address = next(iter(url.split()), None)
        duration_us = parse_duration_us(asked.strip())
        duration_s = None if duration_us is None else duration_us / 1e6
        return address, duration_s, parse_count(asked.strip())

    def _threads_and_connections(self) -> tuple[int | None, int | None]:
        return next(filter(None, map(threads_and_connections, self.block[:2])), (None, None))

    def _totals(self) -> tuple[int, float, float, float]:
        """Requests, elapsed µs, the step of that time in seconds, and bytes."""
        for line in self.block:
            words = line.words
            if len(words) >= 6 and words[1:3] == ["requests", "in"] and words[5] == "read":
                requests = parse_count(words[0])
                time = words[3].rstrip(",")
                elapsed = parse_duration_us(time)
                received = parse_amount(words[4], BINARY_UNITS)
                if requests is not None and elapsed is not None and received is not None:
                    return requests, elapsed, (step_us(time) or 0) / 1e6, received
        raise self.block[-1].refusal(
            "The wrk report is cut off before its totals.",
            expected='a line such as "18000 requests in 3.00s, 2.10MB read"',
        )

    def _moved_errors(self) -> Sequence[Line]:
        """Whole lines of errors below the report; none where they are of another one's end."""
        if first_with(self.behind, RATE):
            return ()
        # Without a line feed behind it, digits may be missing.
        whole = self.behind[:-1]
        return [line for line in whole if ERRORS.fullmatch(line.text)]

    def _rate(self) -> str | None:
        """The printed rate; None if the text ends in it, for then digits may be missing."""
        last = last_line([*self.block, *self.behind])
        return None if last.text.startswith(RATE) else _after(self.block, RATE)

    def _reaches(self, *labels: str) -> bool:
        """Whether one of these lines is there: the lines of errors stand before it, or are it.

        A line of errors that ends the text may have lost digits.
        """
        last = last_line([*self.block, *self.behind]).number
        return any(
            line.text.startswith(labels) and (line.number < last or line.text.startswith(RATE))
            for line in self.block
        )

    def _non_2xx(self) -> int:
        value = _after(self.with_errors, NON_2XX)
        # The line is printed only when there are some.
        return 0 if value is None else self._count(value)

    def _printed_sockets(self) -> dict[str, int]:
        line = first_with(self.with_errors, SOCKETS)
        text = line.text.removeprefix(SOCKETS) if line else ""
        pairs = (part.split() for part in text.split(","))
        return {pair[0]: self._count(pair[1]) for pair in pairs if len(pair) == 2}

    def _count(self, word: str) -> int:
        count = parse_count(word)
        if count is None:
            raise FormatError(
                "The wrk report has an invalid error count.", found=word, expected="a whole number"
            )
        return count

    def _socket_errors(self) -> dict[str, int]:
        printed = self._printed_sockets()
        return {name: printed.get(name, 0) for name in UNANSWERED_CLASSES if name != "other"}

    def _tool_errors(self) -> dict[str, int]:
        status = self._non_2xx()
        return self._printed_sockets() | ({NON_2XX.rstrip(":"): status} if status else {})

    def _ok(self, requests: int, status: int | None, timeout: int | None) -> int | None:
        # A late response may have a bad status as well: then neither count is the union.
        if status is None or timeout is None:
            return None
        if requests and timeout and (status or self.is_late_waiting):
            return None
        return max(requests - status - timeout, 0)

    def _outcome(
        self, requests: int, status: int | None, sockets: Mapping[str, int]
    ) -> dict[str, Any]:
        """All attempts and the failed ones, where some were late; empty where none was.

        All that is printed as failed adds up, so a late response with a bad status counts twice.
        """
        if status is None or not sockets.get("timeout"):
            return {}
        late, lost = sockets["timeout"], sum(sockets.values()) - sockets["timeout"]
        if self.is_late_waiting:
            return {"attempts": requests + late + lost, "failed": status + late + lost}
        return {"attempts": requests + lost, "failed": min(status + late, requests) + lost}

    def _latency(self) -> tuple[Latency, float | None]:
        figures, printed = self._statistics(), self._distribution()
        # Variants of wrk2 have "99%" where wrk has "Max".
        if "99%" in figures and _time_us(figures["99%"]) is not None:
            printed.setdefault("99", figures["99%"])
        steps = [step_us(word) or 0 for word in [*figures.values(), *printed.values()]]
        latency = Latency(
            mean_us=_time_us(figures.get("Avg", "")),
            stdev_us=_time_us(figures.get("Stdev", "")),
            max_us=_time_us(figures.get("Max", "")),
            percentiles={key: _time_us(word) or 0.0 for key, word in printed.items()},
        )
        return latency, max(steps, default=0) or None

    def _statistics(self) -> dict[str, str]:
        """The words of the row Latency by the names above them; empty if there is none."""
        row = next((line.words for line in self.block if line.words[:1] == ["Latency"]), [])
        if row[1:2] == ["Distribution"]:
            return {}
        columns = next((line.words[2:] for line in self.block if is_stats_head(line)), [])
        return dict(zip(columns[:3], row[1:4], strict=False))

    def _distribution(self) -> dict[str, str]:
        """The printed words of the rows below the title Latency Distribution, by percentile."""
        rows = [line.words for line in self.block if line.words]
        title = next(
            (at for at, row in enumerate(rows) if row[:2] == ["Latency", "Distribution"]), len(rows)
        )
        points: dict[str, str] = {}
        for row in takewhile(_is_point, rows[title + 1 :]):
            percent = parse_number(row[0][:-1])
            if _time_us(row[1]) is not None and percent is not None and percent <= 100:
                points[f"{percent:g}"] = row[1]
        return points

    def _lua_json(self) -> dict[str, Any]:
        """What a script's done() printed, where it is one JSON object on a line."""
        for line in (*self.block, *self.behind):
            if line.text.startswith("{") and line.text.endswith("}"):
                try:
                    value = orjson.loads(line.text)
                except orjson.JSONDecodeError:
                    continue
                if not is_log_record(value):
                    return {"lua_json": value}
        return {}


def _after(lines: Sequence[Line], label: str) -> str | None:
    """The word behind the label at the beginning of a line."""
    line = first_with(lines, label)
    return next(iter(line.text.removeprefix(label).split()), None) if line else None


def _parted_at(block: Sequence[Line], label: str) -> tuple[Sequence[Line], Sequence[Line]]:
    """The lines to the first one with the label, and those behind it."""
    end = next((at for at, line in enumerate(block, 1) if line.text.startswith(label)), len(block))
    return block[:end], block[end:]


def _is_point(words: Sequence[str]) -> bool:
    return len(words) == 2 and words[0].endswith("%")


def _time_us(word: str) -> float | None:
    return parse_duration_us(word)
