"""The report that wrk prints, and wrk2 too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.text import (
    BINARY_UNITS,
    TIME_UNITS_US,
    Line,
    blocks,
    number,
    scaled,
    split_unit,
    step_us,
    whole,
)

STARTED = "Running "
WRK2_MARKS = ("Thread calibration:", "HdrHistogram - ")
REFUSED = "unable to connect to "


def is_start(line: Line) -> bool:
    return line.text.startswith(STARTED) and " test @ " in line.text


def threads_and_connections(line: Line) -> tuple[int, int] | None:
    words = line.words
    if len(words) < 5 or words[1:3] != ["threads", "and"] or words[4] != "connections":
        return None
    threads, connections = whole(words[0]), whole(words[3])
    return None if threads is None or connections is None else (threads, connections)


def is_wrk2(text: str) -> bool:
    """Whether a report is wrk2's: it names itself nowhere, but prints these where wrk does not."""
    return any(mark in text for mark in WRK2_MARKS) or any(
        line.split()[:2] == ["Req/Sec", "-nan"] for line in text.splitlines() if "-nan" in line
    )


def report_blocks(lines: Sequence[Line]) -> list[list[Line]]:
    starts = [
        position
        for position, line in enumerate(lines[:-1])
        if is_start(line) and threads_and_connections(lines[position + 1])
    ]
    return blocks(lines, starts)


class Report:
    """One report, line by line."""

    def __init__(self, block: Sequence[Line]) -> None:
        self.block = block

    def trial(self) -> ParsedTrial:
        threads, connections = threads_and_connections(self.block[1]) or (None, None)
        asked, _, url = self.block[0].text.removeprefix(STARTED).partition(" test @ ")
        requests, elapsed_us, received = self._totals()
        rate = self._rate()
        transfer = scaled(self._after("Transfer/sec:") or "", BINARY_UNITS)
        # The lines of errors stand before the rate: without it they may be what was cut off.
        reached = any(line.text.startswith("Requests/sec:") for line in self.block)
        status = self._non_2xx() if reached else None
        sockets = self._socket_errors() if reached else {}
        latency, step = self._latency() if requests else (Latency(), None)
        duration_us = scaled(asked.strip(), TIME_UNITS_US)
        return ParsedTrial(
            tool="wrk",
            url=url.split()[0] if url.split() else None,
            connections=connections,
            threads=threads,
            requested_duration_s=None if duration_us is None else duration_us / 1e6,
            elapsed_s=elapsed_us / 1e6,
            requests_completed=requests,
            requests_ok=_ok(requests, status, sockets.get("timeout")),
            reported_rps=None if rate is None else number(rate),
            bytes_received=round(received),
            transfer_rate_bytes_s=transfer,
            errors={**sockets, "status": status},
            tool_errors=self._tool_errors(),
            latency=latency,
            latency_origin=_origin(latency),
            latency_resolution_us=step,
            incomplete=rate is None or transfer is None,
            extra=self._lua_json(),
        )

    def _totals(self) -> tuple[int, float, float]:
        for line in self.block:
            words = line.words
            if len(words) >= 6 and words[1:3] == ["requests", "in"] and words[5] == "read":
                requests = whole(words[0])
                elapsed = scaled(words[3].rstrip(","), TIME_UNITS_US)
                received = scaled(words[4], BINARY_UNITS)
                if requests is not None and elapsed is not None and received is not None:
                    return requests, elapsed, received
        last = self.block[-1]
        raise FormatError(
            "The wrk report is cut off before its totals.",
            tool="wrk",
            line=last.number,
            found=last.text,
            expected='a line such as "18000 requests in 3.00s, 2.10MB read"',
        )

    def _rate(self) -> str | None:
        """The printed rate; None where the text ends in it, for then digits may be missing."""
        last = next((line for line in reversed(self.block) if line.text), self.block[-1])
        return None if last.text.startswith("Requests/sec:") else self._after("Requests/sec:")

    def _after(self, label: str) -> str | None:
        for line in self.block:
            if line.text.startswith(label):
                words = line.text.removeprefix(label).split()
                return words[0] if words else None
        return None

    def _non_2xx(self) -> int:
        value = self._after("Non-2xx or 3xx responses:")
        # The line is printed only when there are some.
        return 0 if value is None else self._count(value)

    def _printed_sockets(self) -> dict[str, int]:
        label = "Socket errors:"
        for line in self.block:
            if line.text.startswith(label):
                pairs = (part.split() for part in line.text.removeprefix(label).split(","))
                return {pair[0]: self._count(pair[1]) for pair in pairs if len(pair) == 2}
        return {}

    def _count(self, word: str) -> int:
        count = whole(word)
        if count is None:
            raise FormatError(
                "The wrk report has an error count that is no number.",
                tool="wrk",
                found=word,
                expected="a whole number",
            )
        return count

    def _socket_errors(self) -> dict[str, int]:
        printed = self._printed_sockets()
        return {name: printed.get(name, 0) for name in ("connect", "read", "write", "timeout")}

    def _tool_errors(self) -> dict[str, int]:
        status = self._non_2xx()
        return {
            **self._printed_sockets(),
            **({"Non-2xx or 3xx responses": status} if status else {}),
        }

    def _latency(self) -> tuple[Latency, float | None]:
        row = next((line.words for line in self.block if line.words[:1] == ["Latency"]), [])
        if row[1:2] == ["Distribution"]:
            row = []
        printed = self._distribution()
        figures = [word for word in row[1:4] if scaled(word, TIME_UNITS_US) is not None]
        steps = [step_us(word) for word in [*figures, *printed.values()]]
        mean, stdev, highest = (scaled(word, TIME_UNITS_US) for word in [*row[1:4], "", "", ""][:3])
        latency = Latency(
            mean_us=mean,
            stdev_us=stdev,
            max_us=highest,
            percentiles={key: scaled(word, TIME_UNITS_US) or 0.0 for key, word in printed.items()},
        )
        return latency, max((step for step in steps if step is not None), default=None)

    def _distribution(self) -> dict[str, str]:
        printed: dict[str, str] = {}
        inside = False
        for line in self.block:
            words = line.words
            if words[:2] == ["Latency", "Distribution"]:
                inside = True
            elif inside and len(words) == 2 and words[0].endswith("%"):
                if scaled(words[1], TIME_UNITS_US) is not None:
                    printed[_percent(words[0])] = words[1]
            elif inside and words:
                break
        return printed

    def _lua_json(self) -> dict[str, Any]:
        """What a script's done() printed, where it is one JSON object on a line."""
        for line in self.block:
            if line.text.startswith("{") and line.text.endswith("}"):
                try:
                    return {"lua_json": orjson.loads(line.text)}
                except orjson.JSONDecodeError:
                    continue
        return {}


def _percent(word: str) -> str:
    value = number(split_unit(word.rstrip("%"))[0])
    return word.rstrip("%") if value is None else f"{value:g}"


def _ok(requests: int, status: int | None, timeout: int | None) -> int | None:
    # A late response may have a bad status as well: then neither count is the union.
    if status is None or timeout is None or (status and timeout):
        return None
    return max(requests - status - timeout, 0)


def _origin(latency: Latency) -> str | None:
    if latency.percentiles:
        return "percentiles"
    return None if latency.mean_us is None else "summary"
