"""The text that rewrk prints for each round."""

from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Any

from backend.formats.model import Latency, ParsedTrial
from backend.formats.numbers import (
    BINARY_UNITS,
    TIME_UNITS_US,
    all_known,
    parse_amount,
    parse_count,
    parse_duration_us,
    parse_number,
)
from backend.formats.oha.errors import CLASSES, class_of
from backend.formats.text import Line, Source, blocks, first_with, last_line
from backend.formats.transport_errors import counted_classes

STARTED, AT, FOR = "Benchmarking ", " connections @ ", " for "
LATENCIES, TRANSFER = "Latencies:", "Transfer Rate:"
COLUMNS = ["Avg", "Stdev", "Min", "Max"]
NOTHING = "No requests completed successfully"
REFUSED = "connection error:"
RATE = "Req/Sec:"
# In the place of a last line without its line feed, which may have lost digits.
CUT = "\0"
# "1 day(s)", and "5 seconds" as in older versions.
UNITS_S = {name: TIME_UNITS_US[name[0]] / 1e6 for name in ("second", "minute", "hour")}
UNITS_S |= {"day": 86_400.0}
RESOLUTION_US = 10


def find_reports(source: Source) -> list[list[Line]]:
    """The lines of each round, from what it was asked for, or from the latencies without that."""
    *lines, last = source.lines
    if last.text:
        lines.append(Line(last.number, CUT))
    starts: list[int] = []
    is_reached = True
    for position, line in enumerate(lines):
        is_start = line.text.startswith(STARTED) and AT in line.text
        is_table = line.text == LATENCIES and _has_columns(lines[position + 1 : position + 2])
        if is_start or (is_table and is_reached):
            starts.append(position)
        is_reached = is_table or (is_reached and not is_start)
    return blocks(lines, starts)


def _has_columns(lines: Sequence[Line]) -> bool:
    return any(line.words == COLUMNS for line in lines)


def read_report(block: Sequence[Line]) -> ParsedTrial:
    """The trial of a round; raises FormatError where it has no result."""
    asked = _asked(block[0])
    if first_with(block, NOTHING):
        return ParsedTrial(requests_completed=0, **asked)
    row = _latencies(block)
    total, rate = _two(block, "Total:", RATE)
    requests, rate_rps = parse_count(total), parse_number(rate)
    if row is None or requests is None or not rate_rps:
        raise _refused(block)
    size, transfer = _two(block, "Total:", TRANSFER)
    failures = _failures(block)
    failed = sum((failures or {}).values())
    return ParsedTrial(
        **asked,
        exact_elapsed_s=round(requests / rate_rps, 9),
        **_counts(requests, failed),
        reported_rps=rate_rps,
        bytes_received=_bytes(size),
        transfer_rate_bytes_s=_bytes(transfer.removesuffix("/Sec")),
        errors={} if failures is None else counted_classes(failures, class_of, CLASSES),
        tool_errors=failures or {},
        latency=Latency(mean_us=row[0], stdev_us=row[1], min_us=row[2], max_us=row[3]),
        latency_origin="summary",
        latency_resolution_us=RESOLUTION_US,
        incomplete=not transfer or failures is None,
        extra=_slowest(block),
    )


def _refused(block: Sequence[Line]) -> Exception:
    refused = first_with(block, REFUSED)
    if refused is not None:
        return refused.refusal("rewrk stopped before the run: it could not connect.")
    return last_line(block).refusal(
        "The rewrk report is cut off before its requests, or damaged.",
        expected='a row below "Avg Stdev Min Max" and a line "Total: 1000 Req/Sec: 500.00"',
    )


def _counts(requests: int, failed: int) -> dict[str, Any]:
    """Statuses are not printed: that nothing failed is not known."""
    return {
        "requests_completed": max(requests - failed, 0),
        "attempts": max(requests, failed) if failed else None,
        "failed": failed or None,
    }


def _asked(line: Line) -> dict[str, Any]:
    """URL, connections and duration of "Benchmarking 10 connections @ URL for 5 second(s)"."""
    count, at, rest = line.text.removeprefix(STARTED).partition(AT)
    if not at:
        return {}
    url, _, duration = rest.rpartition(FOR)
    words = duration.replace(",", " ").split()
    parts = [_seconds(*pair) for pair in list(pairwise(words))[::2]]
    seconds = all_known(parts) if parts and len(words) % 2 == 0 else None
    return {
        "url": next(iter((url or rest).split()), None),
        "connections": parse_count(count),
        "requested_duration_s": sum(seconds) if seconds else None,
    }


def _seconds(count: str, unit: str) -> float | None:
    amount = parse_number(count)
    factor = UNITS_S.get(unit.removesuffix("(s)").removesuffix("s"))
    return None if amount is None or factor is None else amount * factor


def _latencies(block: Sequence[Line]) -> list[float] | None:
    """The row below the columns, in µs; None where it is not whole."""
    at = next((at for at, line in enumerate(block) if line.words == COLUMNS), len(block))
    row = block[at + 1].words if at + 1 < len(block) else []
    return all_known(map(parse_duration_us, row)) if len(row) == len(COLUMNS) else None


def _two(block: Sequence[Line], first: str, second: str) -> tuple[str, str]:
    """The figures of a line such as "Total: 1000 Req/Sec: 500.00", whole; empty if not there."""
    for line in block:
        before, mark, after = line.text.partition(second)
        if mark and before.startswith(first):
            return before.removeprefix(first).strip(), after.strip()
    return "", ""


def _bytes(text: str) -> int | None:
    size = parse_amount(text.replace(" ", ""), BINARY_UNITS)
    return None if size is None else round(size)


def _is_row(line: Line) -> bool:
    return line.text.startswith(("+ -", "| ")) or TRANSFER in line.text


def _failures(block: Sequence[Line]) -> dict[str, int] | None:
    """The failed attempts by message; None where the text may have lost some.

    A blank line follows the last one, and stands before the first, too.
    """
    rows = [at for at, line in enumerate(block) if _is_row(line)]
    behind = [line.text for line in block[rows[-1] + 1 :]] if rows else []
    listed = behind[1:] if behind[:1] == [""] else behind
    failures = dict(filter(None, takewhile(bool, map(_failure, listed))))
    following = listed[len(failures) :]
    if following:
        return None if following[0] == CUT else failures
    return {} if behind and not failures else None


def _failure(text: str) -> tuple[str, int] | None:
    """Message and count of "169 Errors: connection closed"; None for another line."""
    count, mark, message = text.partition(" Errors: ")
    failed = parse_count(count) if mark else None
    return None if failed is None else (message, failed)


def _slowest(block: Sequence[Line]) -> dict[str, Any]:
    """The table of --pct: the mean of the slowest requests, not a percentile."""
    means: dict[str, float] = {}
    for line in block:
        cells = [cell.strip() for cell in line.text.strip("| ").split("|")]
        if len(cells) == 2 and cells[0].endswith("%"):
            percent, mean = parse_number(cells[0][:-1]), parse_duration_us(cells[1])
            if percent is not None and mean is not None:
                means[f"{100 - percent:g}"] = mean
    return {"slowest_mean_us": means} if means else {}
