"""The tables autocannon prints for people: boxes of │ between a first and a last line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.numbers import (
    DECIMAL_UNITS,
    TIME_UNITS_US,
    parse_amount,
    parse_count,
    parse_number,
)
from backend.formats.text import Line, Source, blocks

NAME = "autocannon"
STARTED = "Running "
RESOLUTION_US = 1000


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


class TableReport:
    """One report in tables."""

    def __init__(self, block: Sequence[Line]) -> None:
        self.block = block
        self.rows = [
            [cell.strip() for cell in line.text.strip("│ ").split("│")]
            for line in block
            if "│" in line.text
        ]

    def trial(self) -> ParsedTrial:
        elapsed_us, received = self._totals()
        asked, _, url = self.block[0].text.removeprefix(STARTED).partition(" test @ ")
        codes, classes, errors = self._codes(), self._classes(), self._errors()
        duration_us = parse_amount(asked.strip(), TIME_UNITS_US)
        rate, latency = self._per_second("Req/Sec", _localised), self._latency()
        # Zeros are printed when nothing was measured.
        measured = bool(rate) or bool(latency.max_us)
        # Without a response and without errors, the errors are what was cut off.
        is_cut = errors is None or (not measured and not received and not errors)
        ok, bad = classes or _classes_of(codes)
        return ParsedTrial(
            tool=NAME,
            url=url.split()[0] if url.split() else None,
            connections=parse_count(self.block[1].words[0]),
            threads=self._workers(),
            requested_requests=_asked_requests(asked),
            requested_duration_s=None if duration_us is None else duration_us / 1e6,
            elapsed_s=elapsed_us / 1e6,
            requests_completed=None if ok is None else ok + (bad or 0),
            requests_ok=ok,
            reported_rps=rate,
            bytes_received=None if received is None else round(received),
            transfer_rate_bytes_s=self._per_second("Bytes/Sec", _size),
            errors={"status": bad or 0, **({} if is_cut else _errors_of(errors or {}))},
            tool_errors=self._tool_errors(errors or {}, classes),
            status_counts=codes,
            latency=latency if measured else Latency(),
            latency_origin="percentiles" if measured and latency.percentiles else None,
            latency_resolution_us=RESOLUTION_US,
            incomplete=is_cut or received is None,
            disagreements=_disagreements(codes, classes),
        )

    def _totals(self) -> tuple[float, float | None]:
        for line in self.block:
            words = line.words
            if len(words) >= 4 and words[1:3] == ["requests", "in"]:
                elapsed = parse_amount(words[3].rstrip(","), TIME_UNITS_US)
                if elapsed is not None:
                    return elapsed, _size(" ".join(words[4:6]))
        last = self.block[-1]
        raise FormatError(
            "The autocannon report is cut off before its last line.",
            tool=NAME,
            line=last.number,
            found=last.text,
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
        mean = _time(self._cell("Latency", "Avg"))
        return Latency(
            mean_us=mean,
            stdev_us=_time(self._cell("Latency", "Stdev")),
            max_us=_time(self._cell("Latency", "Max")),
            percentiles={**self._header_percentiles(), **self._percentile_table()},
        )

    def _header_percentiles(self) -> dict[str, float]:
        header = next((row for row in self.rows if row[0] == "Stat"), [])
        found = {name: _time(self._cell("Latency", name)) for name in header if name.endswith("%")}
        return {name.rstrip("%"): value for name, value in found.items() if value is not None}

    def _percentile_table(self) -> dict[str, float]:
        found: dict[str, float] = {}
        inside = False
        for row in self.rows:
            if row[0] == "Percentile":
                inside = True
            elif inside and len(row) == 2 and parse_number(row[0]) is not None:
                milliseconds = parse_number(row[1])
                if milliseconds is not None:
                    found[row[0]] = milliseconds * 1000
        return found

    def _codes(self) -> dict[str, int] | None:
        """Responses by status, where the table was asked for."""
        found: dict[str, int] | None = None
        for row in self.rows:
            if row[:2] == ["Code", "Count"]:
                found = {}
            elif row[0] in ("Stat", "Percentile"):
                if found is not None:
                    break
            elif found is not None:
                code, count = row[0], parse_count(row[1]) if len(row) == 2 else None
                if count is None or len(code) != 3 or not code.isdecimal():
                    raise self._damaged(" │ ".join(row), "a status code and a count, 200 │ 842")
                found[code] = count
        return found

    def _classes(self) -> tuple[int | None, int | None] | None:
        """Responses that are 2xx and that are not; the line is printed only for some that are not.

        None without the line.
        """
        for line in self.block:
            if "2xx responses," in line.text:
                words = line.words
                ok, bad = parse_count(words[0]), parse_count(words[3]) if len(words) > 3 else None
                if ok is None or bad is None or words[4:6] != ["non", "2xx"]:
                    expected = "2075 2xx responses, 567 non 2xx responses"
                    raise self._damaged(line.text, expected, line)
                return ok, bad
        return None

    def _damaged(self, found: str, expected: str, line: Line | None = None) -> FormatError:
        return FormatError(
            "The autocannon report has a count that is none.",
            tool=NAME,
            line=line.number if line else None,
            found=found,
            expected=expected,
        )

    def _errors(self) -> dict[str, int | None] | None:
        """The counts below the totals, None for one rounded to thousands; empty without a line.

        None as a whole where a line is cut off.
        """
        found: dict[str, int | None] = {}
        for line in self._below_totals():
            words = line.words
            if words[1:2] == ["errors"] and words[3:] == ["timeouts)"]:
                found["errors"], found["timeouts"] = (
                    parse_count(words[0]),
                    parse_count(words[2].lstrip("(")),
                )
            elif words[1:] == ["requests", "with", "mismatched", "body"]:
                found["mismatches"] = parse_count(words[0])
            elif words[:4] == ["request", "pipeline", "was", "reset"] and len(words) == 6:
                found["resets"] = parse_count(words[4])
            elif words and words[0].rstrip("k").isdigit():
                return None
        return found

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

    def _tool_errors(
        self, errors: Mapping[str, int | None], classes: tuple[int | None, int | None] | None
    ) -> dict[str, int]:
        named = {**errors, "non2xx": classes[1] if classes else None}
        return {name: count for name, count in named.items() if count is not None}


def _classes_of(codes: Mapping[str, int] | None) -> tuple[int | None, int | None]:
    if codes is None:
        return None, None
    ok = sum(count for code, count in codes.items() if code.startswith("2"))
    return ok, sum(codes.values()) - ok


def _errors_of(errors: Mapping[str, int | None]) -> dict[str, int | None]:
    """The classes of failures, 0 without a line, for then there were none."""
    total, timeouts = errors.get("errors", 0), errors.get("timeouts", 0)
    if total is None or timeouts is None or total < timeouts:
        return {"timeout": timeouts}
    return {"timeout": timeouts, "other": total - timeouts}


def _disagreements(
    codes: Mapping[str, int] | None, classes: tuple[int | None, int | None] | None
) -> tuple[str, ...]:
    if codes is None or classes is None or _classes_of(codes) == classes:
        return ()
    return (f"{classes[0]} 2xx and {classes[1]} other responses, by status code {dict(codes)}",)


def _asked_requests(asked: str) -> int | None:
    words = asked.split()
    return parse_count(words[0]) if words[1:] == ["requests"] else None


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
    marks = [mark for mark in cell if not mark.isdigit()]
    if not groups or len(marks) != len(groups) - 1 or not {*marks} <= {".", ","}:
        return None
    decimals = groups.pop() if len(groups) > 1 and len(groups[-1]) < 3 else ""
    head, *thousands = groups
    if thousands and (head.startswith("0") or len(head) > 3):
        return None
    if any(len(group) != 3 for group in thousands) or len({*marks[: len(thousands)]}) > 1:
        return None
    return parse_number(f"{''.join(groups)}{'.' if decimals else ''}{decimals}")
