"""The tables autocannon prints for people: boxes of │ between a first and a last line.

Before version 3 they had columns between spaces, without boxes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.numbers import (
    DECIMAL_UNITS,
    TIME_UNITS_US,
    parse_amount,
    parse_count,
    parse_number,
)
from backend.formats.statuses import failed, succeeded
from backend.formats.text import Line, Source, blocks

STARTED = "Running "
RESOLUTION_US = 1000
# Of the tables without boxes.
TITLES = ("Avg", "Stdev", "Max")
LATENCY, RATE, BYTES = "Latency (ms)", "Req/Sec", "Bytes/Sec"
PERCENTILES = "Percentile"


def find_tables(source: Source) -> list[list[Line]]:
    """The lines of each report, from Running … on."""
    if " test @ " not in source.text:
        return []
    lines = source.lines
    starts = [position for position in range(len(lines) - 1) if _starts(lines, position)]
    return blocks(lines, starts)


def _starts(lines: Sequence[Line], position: int) -> bool:
    line, words = lines[position], lines[position + 1].words
    if not line.text.startswith(STARTED) or " test @ " not in line.text:
        return False
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


class _Report:
    def __init__(self, block: Sequence[Line]) -> None:
        self.block = block
        self.rows = [
            [cell.strip() for cell in line.text.strip("│ ").split("│")]
            for line in block
            if "│" in line.text
        ] or list(plain_rows(block))
        self.asked, _, self.address = block[0].text.removeprefix(STARTED).partition(" test @ ")
        self.elapsed_us, self.received = self._totals()
        self.codes, self.printed, self.errors = self._codes(), self._responses(), self._errors()
        self.rate = self._per_second("Req/Sec", _localised)
        self.latency = self._latency()

    def trial(self) -> ParsedTrial:
        responses = self.printed or _responses_of(self.codes)
        latency = self.latency if self._is_measured() else Latency()
        return ParsedTrial(
            url=next(iter(self.address.split()), None),
            connections=parse_count(self.block[1].words[0]),
            threads=self._workers(),
            requested_requests=_asked_requests(self.asked),
            requested_duration_s=_asked_seconds(self.asked),
            elapsed_s=self.elapsed_us / 1e6,
            requests_completed=responses.total,
            requests_ok=self._ok(responses),
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
        )

    def _ok(self, responses: _Responses) -> int | None:
        """Responses with 2xx or 3xx; unknown where only those are counted that are not 2xx."""
        if self.codes is not None:
            return succeeded(self.codes)
        return None if responses.bad else responses.ok

    def _bad(self, responses: _Responses) -> int | None:
        if self.codes is not None:
            return failed(self.codes)
        return None if responses.bad else 0

    def _is_measured(self) -> bool:
        """Whether there was a response: else zeros are printed."""
        return bool(self.rate) or bool(self.latency.max_us)

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
        if total is None or timeouts is None or total < timeouts:
            return {"timeout": timeouts}
        return {"timeout": timeouts, "other": total - timeouts}

    def _tool_errors(self) -> dict[str, int]:
        named = {**(self.errors or {}), "non2xx": self.printed.bad if self.printed else None}
        return {name: count for name, count in named.items() if count is not None}

    def _disagreements(self) -> tuple[str, ...]:
        if self.codes is None or not self.printed or _responses_of(self.codes) == self.printed:
            return ()
        ok, bad = self.printed.ok, self.printed.bad
        return (f"{ok} 2xx and {bad} other responses, by status code {dict(self.codes)}",)

    def _totals(self) -> tuple[float, float | None]:
        """Elapsed time in µs, and bytes received."""
        for line in self.block:
            words = line.words
            if len(words) >= 4 and words[1:3] == ["requests", "in"]:
                elapsed = parse_amount(words[3].rstrip(","), TIME_UNITS_US)
                if elapsed is not None:
                    return elapsed, _size(" ".join(words[4:6]))
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
        rows = self.rows[titles[0] + 1 : titles[1] if titles[1:] else None] if titles else []
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

    def _errors(self) -> dict[str, int | None] | None:
        """The counts below the totals, None for one rounded to thousands; empty without a line.

        None as a whole where a line is cut off.
        """
        counts: dict[str, int | None] = {}
        for line in self._below_totals():
            words = line.words
            if words[1:2] == ["errors"] and words[3:] == ["timeouts)"]:
                counts["errors"] = parse_count(words[0])
                counts["timeouts"] = parse_count(words[2].lstrip("("))
            elif words[1:] == ["requests", "with", "mismatched", "body"]:
                counts["mismatches"] = parse_count(words[0])
            elif words[:4] == ["request", "pipeline", "was", "reset"] and len(words) == 6:
                counts["resets"] = parse_count(words[4])
            elif words and words[0].rstrip("k").isdigit():
                return None
        return counts

    def _below_totals(self) -> list[Line]:
        at = next(
            (at for at, line in enumerate(self.block) if line.words[1:3] == ["requests", "in"]),
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

    def _workers(self) -> int | None:
        words = self.block[2].words if len(self.block) > 2 else []
        return parse_count(words[0]) if words[1:] == ["workers"] else None


def _responses_of(codes: Mapping[str, int] | None) -> _Responses:
    if codes is None:
        return _Responses()
    ok = sum(count for code, count in codes.items() if code.startswith("2"))
    return _Responses(ok, sum(codes.values()) - ok)


def _asked_requests(asked: str) -> int | None:
    words = asked.split()
    return parse_count(words[0]) if words[1:] == ["requests"] else None


def _asked_seconds(asked: str) -> float | None:
    duration_us = parse_amount(asked.strip(), TIME_UNITS_US)
    return None if duration_us is None else duration_us / 1e6


def _time(cell: str) -> float | None:
    return parse_amount(cell.replace(" ", ""), TIME_UNITS_US)


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


def plain_rows(block: Sequence[Line]) -> Iterator[list[str]]:
    """The rows as those of the boxes are: a name and its cells, each time and size with a unit."""
    in_percentiles = False
    for line in block:
        words = line.words
        in_percentiles = in_percentiles or words == [PERCENTILES, *LATENCY.split()]
        if in_percentiles and len(words) == 2 and parse_number(words[0]) is not None:
            yield words
        elif row := _row(line.text, words):
            yield row


def _row(text: str, words: list[str]) -> list[str]:
    """The cells of a line of the plain table; empty for a line that is no row."""
    if words == ["Stat", *TITLES] or words[:1] == [RATE]:
        return words
    if words == [PERCENTILES, *LATENCY.split()]:
        return [PERCENTILES, LATENCY]
    if text.startswith(LATENCY):
        return ["Latency", *(f"{word} ms" for word in words[2:])]
    if words[:1] == [BYTES]:
        # "2.13 MB 144.66 kB 2.36 MB"
        return [BYTES, *(f"{amount} {unit}" for amount, unit in list(pairwise(words[1:]))[::2])]
    return []
