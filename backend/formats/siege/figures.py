"""siege's twelve figures, as it prints them: text, JSON, a row of its log."""

from collections.abc import Mapping
from typing import Any

from backend.formats.model import Entry, FormatError, Latency, ParsedTrial
from backend.formats.numbers import implied_elapsed_s, parse_count, parse_number, scaled
from backend.formats.siege.runs import BANNER, PREPARING, Run, is_log_header
from backend.formats.text import Line, Source

MEGABYTE = 1 << 20
HUNDREDTH = 10_000
TIMES_US = {"secs": 1e6, "ms": 1e3, "": 1e6}
LABELS = {
    "transactions": ("Transactions", ("hits",)),
    "availability": ("Availability", ("%",)),
    "elapsed_time": ("Elapsed time", ("secs",)),
    "data_transferred": ("Data transferred", ("MB",)),
    "response_time": ("Response time", ("secs", "ms")),
    "transaction_rate": ("Transaction rate", ("trans/sec",)),
    "throughput": ("Throughput", ("MB/sec",)),
    "concurrency": ("Concurrency", ("",)),
    "successful_transactions": ("Successful transactions", ("",)),
    "failed_transactions": ("Failed transactions", ("",)),
    "longest_transaction": ("Longest transaction", ("", "ms")),
    "shortest_transaction": ("Shortest transaction", ("", "ms")),
}
COUNTS = ("transactions", "successful_transactions", "failed_transactions")
NEEDED = (*COUNTS, "elapsed_time")
LOG_CELLS = 10

Figures = Mapping[str, float | int | None]


def read_document(document: Mapping[str, Any]) -> Entry:
    """One JSON result."""
    for name in LABELS:
        if not _is_figure(document.get(name, 0), whole=name in COUNTS):
            return FormatError(
                f"The siege JSON has no number as its {name}.",
                found=str(document[name]),
                expected="a whole number" if name in COUNTS else "a number",
            )
    figures = {name: document.get(name) for name in LABELS}
    for name in ("response_time", "longest_transaction", "shortest_transaction"):
        figures[name] = scaled(figures[name], 1e6)
    return _trial(figures, step_us=HUNDREDTH, shape="json")


def _is_figure(value: Any, *, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value < 1e15 and (not whole or value == int(value))


def read_report(run: Run) -> Entry:
    """One text report, without its verbose lines."""
    # The first of each stands: what follows a report may be the end of another.
    rows = reversed(run.lines)
    words = {name: line for line in rows for name in LABELS if _is_row(line, name, run)}
    if not words.keys() >= set(NEEDED):
        return _cut_off(run)
    figures: dict[str, float | int | None] = {}
    step_us: float = HUNDREDTH
    for name, line in words.items():
        figure, unit = _figure(line, name)
        if figure is None:
            return _damaged(line, name)
        if name in ("response_time", "longest_transaction", "shortest_transaction"):
            figure = scaled(figure, TIMES_US[unit])
            step_us = min(step_us, TIMES_US[unit] / 100)
        figures[name] = figure
    return _trial(figures, step_us=step_us, shape="text", run=run)


def _is_row(line: Line, name: str, run: Run) -> bool:
    """Whether the line has the figure, whole: where the text ends in digits some may be missing."""
    label, colon, value = line.text.partition(":")
    if not colon or label != LABELS[name][0] or not value.strip():
        return False
    units, words = LABELS[name][1], value.split()
    return line.number != run.cut_line or (len(words) == 2 and words[1] in units)


def _figure(line: Line, name: str) -> tuple[float | int | None, str]:
    words = line.text.partition(":")[2].split()
    unit = words[1] if len(words) > 1 else ""
    if len(words) > 2 or unit not in LABELS[name][1]:
        return None, unit
    return (parse_count(words[0]) if name in COUNTS else parse_number(words[0])), unit


def _damaged(line: Line, name: str) -> FormatError:
    label, units = LABELS[name]
    return line.refusal(
        f"The siege report has no number as its {label}, or an unknown unit.",
        expected=f"{label}: 12{'' if name in COUNTS else '.34'} {' or '.join(units)}".rstrip(),
    )


def _cut_off(run: Run) -> FormatError:
    last = run.lines[-1] if run.lines else Line(0, "")
    return last.refusal(
        "The siege report has no complete result: the run stopped, or the text is cut off.",
        expected='lines from "Transactions: 500 hits" to "Shortest transaction: 0.00"',
    )


def _trial(figures: Figures, *, step_us: float, shape: str, run: Run | None = None) -> ParsedTrial:
    completed, failed = (_count(figures, name) for name in ("transactions", "failed_transactions"))
    latency = Latency(
        mean_us=figures.get("response_time"),
        min_us=figures.get("shortest_transaction"),
        max_us=figures.get("longest_transaction"),
    )
    # Without a transaction siege prints zeros.
    is_timed = bool(completed) and latency != Latency()
    received = scaled(figures.get("data_transferred"), MEGABYTE)
    return ParsedTrial(
        tool_version=_after(run, BANNER),
        connections=parse_count(_after(run, PREPARING) or ""),
        elapsed_s=_float(figures["elapsed_time"]),
        exact_elapsed_s=implied_elapsed_s(
            figures["elapsed_time"],
            step_s=0.01,
            count=completed,
            rate_rps=figures.get("transaction_rate"),
            rate_step=0.01,
        ),
        requests_completed=completed,
        **_outcome(completed, failed, ok=_count(figures, "successful_transactions")),
        reported_rps=_float(figures.get("transaction_rate")),
        bytes_received=None if received is None else round(received),
        transfer_rate_bytes_s=scaled(figures.get("throughput"), MEGABYTE),
        tool_errors={"failed_transactions": failed},
        latency=latency if is_timed else Latency(),
        latency_origin="summary" if is_timed else None,
        latency_resolution_us=step_us if is_timed else None,
        incomplete=shape != "log" and any(figures.get(name) is None for name in LABELS),
        extra={
            "format": shape,
            "extra": {
                "availability_percent": figures.get("availability"),
                "concurrency": figures.get("concurrency"),
            },
        },
    )


def _outcome(completed: int, failed: int, *, ok: int) -> dict[str, Any]:
    """Successes, attempts and failed attempts. Transactions leave out what siege calls failed: 5xx
    and attempts without a response. Old versions count successes that they do not count as
    transactions, when the time is up: how many of these succeeded is unknown then."""
    bad = max(completed - ok, 0)
    known = ok if ok <= completed else None
    return {"requests_ok": known, "attempts": completed + failed, "failed": bad + failed}


def _count(figures: Figures, name: str) -> int:
    return int(figures[name] or 0)


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)


def _after(run: Run | None, label: str) -> str | None:
    """The word behind the label at the start of a line."""
    for line in run.lines if run else ():
        if line.text.upper().startswith(label.upper()):
            words = line.text[len(label) :].split()
            return words[0] if words else None
    return None


def read_log_rows(source: Source) -> list[Entry]:
    """A run for each row of siege's log, oldest first; its data are cut to whole MB: not known."""
    rows: list[Entry] = []
    begun = False
    for line in source.lines:
        cells = [cell.strip() for cell in line.text.split(",")]
        if is_log_header(line):
            begun = True
        elif begun and len(cells) >= LOG_CELLS - 1 and cells[0][:4].isdigit():
            is_last = line is source.lines[-1]
            rows.append(_log_row(line, cells, is_cut=is_last and not source.text[-1:].isspace()))
    return rows


def _log_row(line: Line, cells: list[str], *, is_cut: bool) -> Entry:
    names = ("transactions", "elapsed_time", "", "response_time", "transaction_rate", "")
    keys = (*names, "concurrency", "successful_transactions", "failed_transactions")
    figures = {
        name: parse_count(cell) if name in COUNTS else parse_number(cell)
        for name, cell in zip(keys, cells[1:], strict=False)
        if name
    }
    # Without a transaction the mean is 0 ÷ 0.
    is_known = {name for name, value in figures.items() if value is not None}
    if is_cut or len(cells) != LOG_CELLS or not is_known >= set(NEEDED):
        return line.refusal(
            "The siege log has a row that is damaged or cut off.",
            expected=f"{LOG_CELLS} cells: date, transactions, elapsed time, … failed",
        )
    figures["response_time"] = scaled(figures["response_time"], 1e6)
    return _trial(figures, step_us=HUNDREDTH, shape="log")
