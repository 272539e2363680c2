"""The text that weighttp prints to version 0.4."""

from collections.abc import Sequence
from itertools import pairwise

from backend.formats import statuses
from backend.formats.model import FormatError, ParsedTrial
from backend.formats.numbers import all_by_name, all_known, parse_count, parse_number
from backend.formats.text import Line, first_with, last_line
from backend.formats.weighttp.start import Start

FINISHED = "finished in "
KILOBYTE = 1024
REQUESTS = ("total", "started", "done", "succeeded", "failed", "errored")
TRAFFIC = ("total", "http", "data")
TIME = ("sec", "millisec", "microsec")


def is_finish(line: Line) -> bool:
    """Whether this is the line with the time, in parts as only weighttp prints it."""
    return line.text.startswith(FINISHED) and " millisec and " in line.text


def read_report(block: Sequence[Line], start: Start) -> ParsedTrial:
    """One run. Raises FormatError where it has no totals, or counts that do not add up."""
    elapsed, rate, transfer = _finish(block)
    counts = _counts(block, "requests:", REQUESTS)
    if counts is None or elapsed is None:
        raise _cut_off(block)
    _check(block, "requests:", counts["done"], counts["succeeded"] + counts["failed"])
    status = _counts(block, "status codes:", statuses.FINAL_CLASSES)
    traffic, bodies = _traffic(block)
    asked = start if start.requests == counts["total"] else Start(start.version)
    return ParsedTrial(
        tool_version=start.version,
        connections=asked.connections,
        threads=asked.threads,
        requested_requests=counts["total"],
        elapsed_s=elapsed,
        requests_completed=completed_of(status, counts["succeeded"], counts["failed"]),
        requests_ok=counts["succeeded"],
        attempts=counts["done"],
        failed=counts["failed"],
        reported_rps=rate,
        bytes_received=traffic,
        body_bytes=bodies,
        transfer_rate_bytes_s=None if transfer is None else transfer * KILOBYTE,
        errors=error_classes(status, counts["failed"]),
        tool_errors={name: counts[name] for name in ("failed", "errored")},
        status_counts=status,
        incomplete=traffic is None,
        disagreements=rate_disagreements(counts["done"], elapsed, rate),
        extra={"format": "text", "extra": {name: counts[name] for name in ("started", "done")}},
    )


def completed_of(status: dict[str, int] | None, succeeded: int, failed: int) -> int | None:
    """Responses with a status; before 0.3 no status is printed, and failures may have had one."""
    if status is not None:
        return sum(status.values())
    return None if failed else succeeded


def error_classes(status: dict[str, int] | None, failed: int) -> dict[str, int | None]:
    """Failures by status, and those without one."""
    if status is None:
        return {} if failed else {"status": 0, "other": 0}
    bad = statuses.failed(status)
    return {"status": bad, "other": failed - bad if failed >= bad else None}


def rate_disagreements(done: int, elapsed: float, rate: float | None) -> tuple[str, ...]:
    """The rate, where it is not requests done over time, cut to a whole number."""
    if rate is None or not elapsed or done / (elapsed + 2e-6) - 1 <= rate <= done / elapsed + 0.5:
        return ()
    return (f"{done} requests done in {elapsed:g} s, but a rate of {rate:g} per second",)


def _finish(block: Sequence[Line]) -> tuple[float | None, float | None, float | None]:
    """Seconds, requests per second and kbytes per second; null where a unit is cut off."""
    line = next((line for line in block if is_finish(line)), None)
    if line is None:
        return None, None, None
    before = _before(line)
    printed = all_known(parse_count(before.get(unit, "")) for unit in TIME)
    if printed is None:
        return None, None, None
    elapsed = round(printed[0] + printed[1] / 1e3 + printed[2] / 1e6, 6)
    return elapsed, parse_number(before.get("req/s", "")), parse_number(before.get("kbyte/s", ""))


def _before(line: Line) -> dict[str, str]:
    """By each word the one before it."""
    return {word.rstrip(","): before for before, word in pairwise(line.words)}


def _counts(block: Sequence[Line], label: str, names: Sequence[str]) -> dict[str, int] | None:
    """The counts of a line by name; null without the line, or where it is cut off."""
    line = first_with(block, label)
    if line is None:
        return None
    before = _before(line)
    return all_by_name({name: parse_count(before.get(name, "")) for name in names})


def _traffic(block: Sequence[Line]) -> tuple[int | None, int | None]:
    """Bytes received, and those of bodies; null without the line, or where it is cut off."""
    line = first_with(block, "traffic:")
    if line is None:
        return None, None
    words = [word.rstrip(",") for word in line.words]
    sizes = {
        name: parse_count(size)
        for size, unit, name in zip(words, words[1:], words[2:], strict=False)
        if unit == "bytes"
    }
    printed = all_known(map(sizes.get, TRAFFIC))
    if printed is None:
        return None, None
    _check(block, "traffic:", printed[0], printed[1] + printed[2])
    return printed[0], printed[2]


def _check(block: Sequence[Line], label: str, whole_count: int, parts: int) -> None:
    if whole_count == parts:
        return
    line = first_with(block, label)
    raise FormatError(
        "The weighttp report has counts that do not add up: it is damaged.",
        line=line.number if line else None,
        found=line.text if line else None,
        expected=f"parts that sum up to {whole_count}, not {parts}",
    )


def _cut_off(block: Sequence[Line]) -> FormatError:
    return last_line(block).refusal(
        "The weighttp output has no result: the run stopped, or the text is cut off.",
        expected='lines such as "finished in 1 sec, …" and "requests: 50 total, …", or JSON',
    )
