"""The tables autocannon prints for people: boxes of │ between a first and a last line."""

from __future__ import annotations

from collections.abc import Sequence

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.text import DECIMAL_UNITS, TIME_UNITS_US, Line, blocks, number, scaled, whole

NAME = "autocannon"
STARTED = "Running "
COUNT_UNITS = {"": 1, "k": 10**3, "M": 10**6}
RESOLUTION_US = 1000


def find_tables(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of each report, from Running … on."""
    starts = [position for position in range(len(lines) - 1) if _starts(lines, position)]
    return blocks(lines, starts)


def _starts(lines: Sequence[Line], position: int) -> bool:
    line, words = lines[position], lines[position + 1].words
    if not line.text.startswith(STARTED) or " test @ " not in line.text:
        return False
    return len(words) >= 2 and whole(words[0]) is not None and words[1] == "connections"


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
        codes, (ok, bad), (errors, timeouts) = self._codes(), self._classes(), self._errors()
        duration_us = scaled(asked.strip(), TIME_UNITS_US)
        rate = _count(self._cell("Req/Sec", "Avg"))
        latency = self._latency() if rate else Latency()
        if codes is not None and ok is None:
            ok = sum(count for code, count in codes.items() if code.startswith("2"))
            bad = sum(codes.values()) - ok
        return ParsedTrial(
            tool=NAME,
            url=url.split()[0] if url.split() else None,
            connections=whole(self.block[1].words[0]),
            requested_requests=_asked_requests(asked),
            requested_duration_s=None if duration_us is None else duration_us / 1e6,
            elapsed_s=elapsed_us / 1e6,
            requests_completed=None if ok is None else ok + (bad or 0),
            requests_ok=ok,
            reported_rps=rate,
            bytes_received=None if received is None else round(received),
            transfer_rate_bytes_s=_size(self._cell("Bytes/Sec", "Avg")),
            errors={
                "timeout": timeouts or 0,
                "status": bad or 0,
                "other": max((errors or 0) - (timeouts or 0), 0),
            },
            tool_errors=self._tool_errors(),
            status_counts=codes,
            latency=latency,
            latency_origin="percentiles" if latency.percentiles else None,
            latency_resolution_us=RESOLUTION_US,
        )

    def _totals(self) -> tuple[float, float | None]:
        for line in self.block:
            words = line.words
            if len(words) >= 4 and words[1:3] == ["requests", "in"]:
                elapsed = scaled(words[3].rstrip(","), TIME_UNITS_US)
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
            elif inside and len(row) == 2 and number(row[0]) is not None:
                milliseconds = number(row[1])
                if milliseconds is not None:
                    found[row[0]] = milliseconds * 1000
        return found

    def _codes(self) -> dict[str, int] | None:
        found: dict[str, int] | None = None
        for row in self.rows:
            if row[:2] == ["Code", "Count"]:
                found = {}
            elif found is not None and len(row) == 2 and len(row[0]) == 3 and row[0].isdigit():
                found[row[0]] = whole(row[1]) or 0
        return found

    def _classes(self) -> tuple[int | None, int | None]:
        for line in self.block:
            words = line.words
            if len(words) >= 6 and words[1:3] == ["2xx", "responses,"] and words[4] == "non":
                return whole(words[0]), whole(words[3])
            if len(words) == 7 and words[1] == "2xx" and words[4:6] == ["non", "2xx"]:
                return whole(words[0]), whole(words[3])
        return None, None

    def _errors(self) -> tuple[int | None, int | None]:
        for line in self.block:
            words = line.words
            if len(words) == 4 and words[1] == "errors" and words[3] == "timeouts)":
                return _round(_count(words[0])), _round(_count(words[2].lstrip("(")))
        return None, None

    def _tool_errors(self) -> dict[str, int]:
        errors, timeouts = self._errors()
        _, bad = self._classes()
        named = {"errors": errors, "timeouts": timeouts, "non2xx": bad}
        return {name: count for name, count in named.items() if count is not None}


def _asked_requests(asked: str) -> int | None:
    words = asked.split()
    return whole(words[0]) if words[1:] == ["requests"] else None


def _time(cell: str) -> float | None:
    return scaled(cell.replace(" ", ""), TIME_UNITS_US)


def _size(words: str) -> float | None:
    return scaled(words.replace(" ", ""), DECIMAL_UNITS)


def _count(cell: str) -> float | None:
    return scaled(cell, COUNT_UNITS)


def _round(value: float | None) -> int | None:
    return None if value is None else round(value)
