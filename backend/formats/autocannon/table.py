"""The tables autocannon prints for people: boxes of │ between a first and a last line."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from backend.formats.autocannon.plain import TITLES, plain_rows
from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.numbers import (
    DECIMAL_UNITS,
    all_by_name,
    parse_amount,
    parse_count,
    parse_duration_us,
    parse_number,
)
from backend.formats.statuses import failed
from backend.formats.text import Line, Source, blocks

STARTED, SAMPLES = "Running ", "# of samples:"
HEAD = "Stat "
MARKS = (" test @ ", "97.5%", "Latency (ms)")
# Between the line of connections and the first table.
LINES_ABOVE = 5
RESOLUTION_US = 1000


def find_tables(source: Source) -> list[list[Line]]:
    """The lines of each report, from Running … on; from its tables on where that was left out."""
    if not any(mark in source.text for mark in MARKS):
        return []
    return blocks(source.lines, list(_begins(source.lines)))


def _begins(lines: Sequence[Line]) -> Iterator[int]:
    is_open = False
    for position, line in enumerate(lines):
        if _starts(lines, position):
            yield position
        elif not is_open and _is_head(line):
            yield _above(lines, position)
            is_open = True
        # The tables below "Running 3s warmup @ …" are no report of their own.
        is_open = (is_open or line.text.startswith(STARTED)) and not _is_end(line)


def _is_head(line: Line) -> bool:
    """Whether this is the head of the table of latencies, with boxes or without."""
    words = line.words
    return HEAD in line.text and (words[-2:-1] == ["Max"] or words == ["Stat", *TITLES])


def _is_end(line: Line) -> bool:
    return line.words[1:3] == ["requests", "in"]


def _above(lines: Sequence[Line], position: int) -> int:
    """Where the line of connections stands above a table; the table's position without one."""
    nearby = range(position - 1, max(position - LINES_ABOVE, 0) - 1, -1)
    return next((at for at in nearby if lines[at].words[1:2] == ["connections"]), position)


def _starts(lines: Sequence[Line], position: int) -> bool:
    line = lines[position]
    if not line.text.startswith(STARTED) or " test @ " not in line.text:
        return False
    words = lines[position + 1].words if position + 1 < len(lines) else []
    return len(words) >= 2 and parse_count(words[0]) is not None and words[1] == "connections"


def read_table(block: Sequence[Line]) -> ParsedTrial:
    """The trial of a report's lines; raises FormatError for a report that is cut off or damaged."""
    return _Report(block).trial()


@dataclass(frozen=True, slots=True)
class _Responses:
    """Responses that are 2xx and that are not; None if the text does not say."""

    ok: int | None = None
    bad: int | None = None

    @property
    def total(self) -> int | None:
        return None if self.ok is None else self.ok + (self.bad or 0)


def outcome_of(completed: int, bad: int, lost: int) -> dict[str, Any]:
    """Successes, attempts and failed attempts. `bad` responses have a bad status or another body
    than the expected one, `lost` attempts have no response."""
    bad = min(bad, completed)
    return {"requests_ok": completed - bad, "attempts": completed + lost, "failed": bad + lost}


class _Report:
    def __init__(self, block: Sequence[Line]) -> None:
        self.block = block
        # Rows below the total are of another report.
        above = list(takewhile(lambda line: not _is_end(line), block))
        self.rows = [
            [cell.strip() for cell in line.text.strip("│ ").split("│")]
            for line in above
            if "│" in line.text
        ] or list(plain_rows(above))
        started = next((line.text for line in block[:1] if line.text.startswith(STARTED)), "")
        self.asked, _, self.address = started.removeprefix(STARTED).partition(" test @ ")
        self.printed_sent, self.elapsed_us, self.received = self._totals()
        # Versions that name the number of samples count the requests sent, earlier ones responses.
        self.counts_sent = any(line.text.startswith(SAMPLES) for line in block)
        self.codes, self.printed, self.errors = self._codes(), self._responses(), self._errors()
        self.rate = self._per_second("Req/Sec", _localised)
        self.latency = self._latency()

    def trial(self) -> ParsedTrial:
        responses = self.printed or self._all_of_asked() or _responses_of(self.codes)
        latency = self.latency if self._is_measured() else Latency()
        return ParsedTrial(
            url=next(iter(self.address.split()), None),
            connections=self._asked_count("connections"),
            threads=self._asked_count("workers"),
            requested_requests=_asked_requests(self.asked),
            requested_duration_s=_asked_seconds(self.asked),
            elapsed_s=self.elapsed_us / 1e6,
            requests_completed=responses.total,
            **self._outcome(responses),
            reported_rps=self.rate,
            bytes_received=None if self.received is None else round(self.received),
            transfer_rate_bytes_s=self._per_second("Bytes/Sec", _size),
            errors={"status": self._bad(responses), **self._classes()},
            not_2xx=(responses.bad or None) if self.codes is None else None,
            tool_errors=self._tool_errors(),
            status_counts=self.codes,
            latency=latency,
            latency_origin=latency.printed_origin,
            latency_resolution_us=RESOLUTION_US,
            incomplete=self._is_cut() or self.received is None,
            disagreements=self._disagreements(),
            extra={"extra": _sent_in(self.printed_sent)},
        )

    def _all_of_asked(self) -> _Responses | None:
        """All requests that were asked for, where the text names no other outcome of one."""
        sent = parse_count(self.printed_sent)
        is_all = sent is not None and sent == _asked_requests(self.asked)
        return _Responses(sent, 0) if is_all and self.codes is None and not self.errors else None

    def _outcome(self, responses: _Responses) -> dict[str, Any]:
        """Successes, attempts and failed attempts; empty where the counts of errors are cut off."""
        if self.errors is None or self._is_cut():
            return {}
        lost, mismatches = (self.errors.get(name, 0) for name in ("errors", "mismatches"))
        if responses.total is not None:
            return outcome_of(responses.total, self._bad(responses) + mismatches, lost)
        requests = _count(self.printed_sent)
        if requests is None:
            return {}
        # Without a line of responses all of them are 2xx.
        attempts = max(requests, lost) if self.counts_sent else requests + lost
        return {"attempts": attempts, "failed": min(mismatches + lost, attempts)}

    def _bad(self, responses: _Responses) -> int:
        return (responses.bad or 0) if self.codes is None else failed(self.codes)

    def _is_measured(self) -> bool:
        """Whether there was a response with a latency: else zeros are printed."""
        return bool(self.latency.max_us)

    def _is_cut(self) -> bool:
        """Whether the counts of errors were cut off: a text without responses must have some."""
        if self.errors is None:
            return True
        return not self._is_measured() and not self.received and not self.errors

    def _classes(self) -> dict[str, int | None]:
        """The classes of failures, 0 without a line, for then there were none."""
        if self.errors is None or self._is_cut():
            return {}
        total, timeouts = self.errors.get("errors", 0), self.errors.get("timeouts", 0)
        if total < timeouts:
            return {"timeout": timeouts}
        return {"timeout": timeouts, "other": total - timeouts}

    def _tool_errors(self) -> dict[str, int]:
        non_2xx = self.printed.bad if self.printed else None
        return {**(self.errors or {}), **({} if non_2xx is None else {"non2xx": non_2xx})}

    def _disagreements(self) -> tuple[str, ...]:
        if self.codes is None or not self.printed or _responses_of(self.codes) == self.printed:
            return ()
        ok, bad = self.printed.ok, self.printed.bad
        return (f"{ok} 2xx and {bad} other responses, by status code {dict(self.codes)}",)

    def _totals(self) -> tuple[str, float, float | None]:
        """Requests sent as printed, elapsed time in µs, and bytes received."""
        for line in self.block:
            words = line.words
            if len(words) >= 4 and _is_end(line):
                elapsed = parse_duration_us(words[3].rstrip(","))
                if elapsed is not None:
                    return words[0], elapsed, _size(" ".join(words[4:6]))
        raise self.block[-1].refusal(
            "The autocannon report is cut off before its last line.",
            expected='a line such as "852 requests in 3.17s, 156 kB read"',
        )

    def _cell(self, row_name: str, column: str) -> str:
        header: list[str] = []
        for row in self.rows:
            if row[0] == "Stat":
                header = row
            elif row[0] == row_name and column in header and header.index(column) < len(row):
                return row[header.index(column)]
        return ""

    def _latency(self) -> Latency:
        return Latency(
            mean_us=_time(self._cell("Latency", "Avg")),
            stdev_us=_time(self._cell("Latency", "Stdev")),
            max_us=_time(self._cell("Latency", "Max")),
            percentiles={**self._header_percentiles(), **self._percentile_table()},
        )

    def _header_percentiles(self) -> dict[str, float]:
        header = next((row for row in self.rows if row[0] == "Stat"), [])
        times = {name: _time(self._cell("Latency", name)) for name in header if name.endswith("%")}
        return {name.rstrip("%"): value for name, value in times.items() if value is not None}

    def _percentile_table(self) -> dict[str, float]:
        """The rows below the title Percentile, in µs."""
        titles = [at for at, row in enumerate(self.rows) if row[0] == "Percentile"]
        # Another table of percentiles below would be of something else.
        rows = self.rows[titles[0] + 1 : (*titles, None)[1]] if titles else []
        return {
            row[0]: milliseconds * 1000
            for row in rows
            if len(row) == 2 and parse_number(row[0]) is not None
            if (milliseconds := parse_number(row[1])) is not None
        }

    def _codes(self) -> dict[str, int] | None:
        """Responses by status, where the table was asked for."""
        titles = [at for at, row in enumerate(self.rows) if row[:2] == ["Code", "Count"]]
        if not titles:
            return None
        rows = takewhile(
            lambda row: row[0] not in ("Stat", "Percentile"), self.rows[titles[0] + 1 :]
        )
        return dict(self._code(row) for row in rows)

    def _code(self, row: Sequence[str]) -> tuple[str, int]:
        code, count = row[0], parse_count(row[1]) if len(row) == 2 else None
        if count is None or len(code) != 3 or not code.isdecimal():
            raise self._damaged(" │ ".join(row), "a status code and a count, 200 │ 842")
        return code, count

    def _responses(self) -> _Responses | None:
        """The line of 2xx and other responses, which is printed only for some that are not 2xx."""
        for line in self.block:
            if "2xx responses," in line.text:
                words = line.words
                ok, bad = parse_count(words[0]), parse_count(words[3]) if len(words) > 3 else None
                if ok is None or bad is None or words[4:6] != ["non", "2xx"]:
                    expected = "2075 2xx responses, 567 non 2xx responses"
                    raise self._damaged(line.text, expected, line)
                return _Responses(ok, bad)
        return None

    def _damaged(self, found: str, expected: str, line: Line | None = None) -> FormatError:
        return FormatError(
            "The autocannon report has an invalid count.",
            line=line.number if line else None,
            found=found,
            expected=expected,
        )

    def _errors(self) -> dict[str, int] | None:
        """The counts below the totals; empty without a line, None where a line is cut off."""
        counts: dict[str, int | None] = {}
        for line in self._below_totals():
            words = line.words
            if words[1:2] == ["errors"] and words[3:] == ["timeouts)"]:
                counts["errors"] = _count(words[0])
                counts["timeouts"] = _count(words[2].lstrip("("))
            elif words[1:] == ["requests", "with", "mismatched", "body"]:
                counts["mismatches"] = _count(words[0])
            elif words[:4] == ["request", "pipeline", "was", "reset"] and len(words) == 6:
                counts["resets"] = _count(words[4])
            elif words and words[0].rstrip("k").isdigit():
                return None
        return all_by_name(counts)

    def _below_totals(self) -> list[Line]:
        at = next(
            (at for at, line in enumerate(self.block) if _is_end(line)),
            len(self.block),
        )
        # A warm-up of the next run stands before its own first line.
        behind = self.block[at + 1 :]
        return list(takewhile(lambda line: not line.text.startswith(STARTED), behind))

    def _per_second(self, row: str, figure: Callable[[str], float | None]) -> float | None:
        """A row's mean, which is per sample, of a second or of what the text says."""
        mean = figure(self._cell(row, "Avg"))
        return None if mean is None else round(mean / self._sample_s(), 6)

    def _sample_s(self) -> float:
        """Of "Req/Bytes counts sampled every 0.1 seconds."."""
        for line in self.block:
            words = line.words
            if words[1:4] == ["counts", "sampled", "every"] and len(words) > 4:
                seconds = parse_number(words[4])
                if not seconds:
                    expected = "Req/Bytes counts sampled every 0.1 seconds."
                    raise self._damaged(line.text, expected, line)
                return seconds
        return 1.0

    def _asked_count(self, name: str) -> int | None:
        """The count of "10 connections" or "2 workers", above the tables."""
        words = [line.words for line in self.block[:3]]
        return next((parse_count(row[0]) for row in words if row[1:2] == [name]), None)


def _responses_of(codes: Mapping[str, int] | None) -> _Responses:
    if codes is None:
        return _Responses()
    ok = sum(count for code, count in codes.items() if code.startswith("2"))
    return _Responses(ok, sum(codes.values()) - ok)


def _count(word: str) -> int | None:
    """The number of "852", or of "14k", which is rounded to thousands."""
    count = parse_count(word.removesuffix("k"))
    return count * 1000 if count is not None and word.endswith("k") else count


def _sent_in(word: str) -> dict[str, int]:
    """The requests sent; from 1,000 on they are rounded to thousands ("26k")."""
    sent, thousands = parse_count(word), parse_count(word.removesuffix("k"))
    if sent is not None:
        return {"requests_sent": sent}
    return {} if thousands is None else {"requests_sent_at_most": thousands * 1000 + 500}


def _asked_requests(asked: str) -> int | None:
    words = asked.split()
    return parse_count(words[0]) if words[1:] == ["requests"] else None


def _asked_seconds(asked: str) -> float | None:
    duration_us = parse_duration_us(asked.strip())
    return None if duration_us is None else duration_us / 1e6


def _time(cell: str) -> float | None:
    return parse_duration_us(cell.replace(" ", ""))


def _size(words: str) -> float | None:
    return parse_amount(words.replace(" ", ""), DECIMAL_UNITS)


def _localised(cell: str) -> float | None:
    """A figure with at most two decimals, in the separators of any locale.

    Three digits behind a separator are thousands, fewer are decimals, so that "1.201", "1,201",
    "880,67" and "1 201,5" can each be read in one way only.
    """
    groups = "".join(mark if mark.isdigit() else " " for mark in cell).split()
    marks = list(filter(lambda mark: not mark.isdigit(), cell))
    if not groups or len(marks) != len(groups) - 1 or not {*marks} <= {".", ","}:
        return None
    decimals = groups.pop() if len(groups) > 1 and len(groups[-1]) < 3 else "0"
    if not _are_thousands(groups, marks):
        return None
    return parse_number(f"{''.join(groups)}.{decimals}")


def _are_thousands(groups: Sequence[str], marks: Sequence[str]) -> bool:
    """Whether groups of digits with marks between are one whole number."""
    head, *thousands = groups
    if thousands and (head.startswith("0") or len(head) > 3):
        return False
    separators = {*marks[: len(thousands)]}
    return all(len(group) == 3 for group in thousands) and len(separators) <= 1
