"""The text that oha prints."""

from collections.abc import Sequence

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.numbers import (
    MICRO_SIGNS,
    TIME_UNITS_US,
    all_known,
    parse_count,
    parse_number,
)
from backend.formats.oha.errors import DEADLINE, errors_of
from backend.formats.statuses import succeeded
from backend.formats.text import Line, Source, blocks, first_with, last_line

BEGIN = "Success rate:"
HISTOGRAM = "Response time histogram:"
# Before version 0.5.5, and since.
DISTRIBUTIONS = ("Latency distribution:", "Response time distribution:")
CODES = "Status code distribution:"
ERRORS = "Error distribution:"
UNITS_US = {**TIME_UNITS_US, "10 sec": 10e6, "10 min": 600e6}
SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
DECIMALS = 4
# Lines from the success rate on in which the times stand.
SUMMARY_LINES = 6


def find_reports(source: Source) -> list[list[Line]]:
    """The lines of each report, from its success rate on."""
    if BEGIN not in source.text:
        return []
    lines = source.lines
    starts = [position for position, line in enumerate(lines) if line.text.startswith(BEGIN)]
    reports = [
        block
        for block in blocks(lines, starts)
        if any(line.text.startswith("Slowest:") for line in block[:SUMMARY_LINES])
    ]
    if reports and not source.text.endswith(("\n", "\r")):
        return [*reports[:-1], _without_cut_end(reports[-1])]
    return reports


def _without_cut_end(block: list[Line]) -> list[Line]:
    """The lines without a last one whose end may be missing."""
    last = block[-1].text
    is_whole = last.endswith((" responses", "] timeout", DEADLINE)) or (
        "(os error " in last and last.endswith(")")
    )
    return block if is_whole else block[:-1]


class Report:
    """One report, line by line."""

    def __init__(self, block: Sequence[Line]) -> None:
        self.block = block

    def trial(self) -> ParsedTrial:
        """One report; raises FormatError where it has no result."""
        elapsed_us, rate = self._time("Total:"), parse_number(self._value("Requests/sec:"))
        codes = self._codes()
        if elapsed_us is None or rate is None or codes is None:
            raise self._cut_off()
        completed = sum(codes.values())
        messages = self._messages(completed, elapsed_us, rate)
        latency = self._latency() if completed else Latency()
        return ParsedTrial(
            elapsed_s=round(elapsed_us / 1e6, 12),
            requests_completed=completed,
            requests_ok=succeeded(codes),
            reported_rps=rate,
            bytes_received=self._size("Total data:"),
            transfer_rate_bytes_s=self._size("Size/sec:"),
            errors=errors_of(messages, codes),
            tool_errors=messages or {},
            status_counts=codes,
            latency=latency,
            latency_origin="percentiles" if latency.percentiles else None,
            latency_resolution_us=self._step() if latency.percentiles else None,
            incomplete=messages is None,
        )

    def _cut_off(self) -> FormatError:
        why = "cut off before its status codes"
        if self._under(CODES) is not None:
            why = "cut off or damaged: its summary, histogram and status codes do not describe "
            why += "the same responses"
        return last_line(self.block).refusal(
            f"The oha report is {why}.",
            expected=f'all lines from "Summary:" to those under "{CODES}"',
        )

    def _value(self, label: str) -> str:
        line = first_with(self.block[: SUMMARY_LINES * 2], label)
        return line.text.removeprefix(label).strip() if line else ""

    def _time(self, label: str) -> float | None:
        return _us(self._value(label))

    def _size(self, label: str) -> int | None:
        figure, _, unit = self._value(label).partition(" ")
        value, factor = parse_number(figure), SIZES.get(unit)
        return None if value is None or factor is None else round(value * factor)

    def _step(self) -> float | None:
        """The smallest step that four decimals of the text's one unit can show, in µs."""
        factor = UNITS_US.get(self._value("Total:").translate(MICRO_SIGNS).partition(" ")[2])
        return None if factor is None else round(factor / 10.0**DECIMALS, 12)

    def _under(self, heading: str) -> list[Line] | None:
        """The lines under a heading, to the next blank one."""
        texts = [line.text for line in self.block]
        if heading not in texts:
            return None
        start = texts.index(heading) + 1
        end = next((at for at in range(start, len(texts)) if not texts[at]), len(texts))
        return list(self.block[start:end])

    def _codes(self) -> dict[str, int] | None:
        """Responses by status; None where lines may be missing, by the histogram's counts."""
        codes: dict[str, int] = {}
        for line in self._under(CODES) or []:
            key, count = _bracket(line.text), parse_count(line.words[1]) if line.words[2:] else None
            if key is None or count is None or not line.text.endswith("responses"):
                break
            codes[key] = count
        return codes if sum(codes.values()) == self._counted() else None

    def _counted(self) -> int | None:
        """All counts of the histogram, "1.607 ms [12] |■"; None without a histogram."""
        lines = self._under(HISTOGRAM)
        if not lines:
            return None
        marks = (line.text.partition("[")[2].partition("]")[0] for line in lines)
        counts = all_known(map(parse_count, marks))
        return None if counts is None else sum(counts)

    def _messages(self, completed: int, elapsed_us: float, rate: float) -> dict[str, int] | None:
        """Errors by message; None where lines may be missing, by the rate, which counts all."""
        messages: dict[str, int] = {}
        for line in self._under(ERRORS) or []:
            count = parse_count(_bracket(line.text) or "")
            if count is None:
                break
            messages[line.text.partition("] ")[2]] = count
        counted = completed + sum(messages.values())
        ticks = parse_number(self._value("Total:").partition(" ")[0])
        if not rate or not ticks:
            return messages
        half = 0.5 / 10**DECIMALS
        all_requests = rate * elapsed_us / 1e6
        slack = all_requests * (half / rate + half / ticks) + 0.5
        return messages if abs(all_requests - counted) <= slack else None

    def _latency(self) -> Latency:
        return Latency(
            mean_us=self._time("Average:"),
            min_us=self._time("Fastest:"),
            max_us=self._time("Slowest:"),
            percentiles=self._percentiles(),
        )

    def _percentiles(self) -> dict[str, float]:
        points: dict[str, float] = {}
        lines = next(filter(None, map(self._under, DISTRIBUTIONS)), [])
        for line in lines:
            percent, _, time = line.text.partition("% in ")
            value, time_us = parse_number(percent), _us(time)
            if value is not None and time_us is not None:
                points[f"{value:g}"] = time_us
        return points


def _us(text: str) -> float | None:
    """The µs of "26.4059 ms"."""
    figure, _, unit = text.translate(MICRO_SIGNS).partition(" ")
    value, factor = parse_number(figure), UNITS_US.get(unit)
    # Digits beyond those printed are noise of the multiplication.
    return None if value is None or factor is None else round(value * factor, 9)


def _bracket(text: str) -> str | None:
    """What stands in the brackets at the start of "[200] 12 responses", if it is a number."""
    inside = text[1:].partition("]")[0]
    return inside if text.startswith("[") and inside.isascii() and inside.isdigit() else None
