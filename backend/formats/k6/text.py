"""The end-of-test summary as text: v1's TOTAL RESULTS, and the list of before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend.formats.k6.summary import counted, latency_of
from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.text import Line, scaled, split_unit, whole
from backend.formats.text import number as number_of

NAME = "k6"
# Figures are cut to two decimals, each in its own unit: a median of some µs shows this step.
RESOLUTION_US = 0.01
TIMES_US = {"ns": 0.001, "µs": 1.0, "μs": 1.0, "us": 1.0, "ms": 1e3, "s": 1e6}
BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
TOTALS = "TOTAL RESULTS"
METRICS = frozenset(
    (
        "http_req_duration",
        "http_req_failed",
        "http_reqs",
        "data_received",
        "dropped_iterations",
        "checks",
        "checks_failed",
    )
)
SCENARIO = "* "


def find_reports(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of each run, up to the next run's summary."""
    starts = [at for at, line in enumerate(lines) if _name(line) == "http_req_duration"]
    ends = [_end(lines, start) for start in starts if not _in_group(lines, start)]
    begins = [0, *ends][: len(ends)]
    return [list(lines[begin:end]) for begin, end in zip(begins, ends, strict=True)]


def _end(lines: Sequence[Line], start: int) -> int:
    """Behind the last metric of the summary that has its duration at `start`."""
    last = start
    for at in range(start, len(lines)):
        name = _name(lines[at])
        if at > start and name in ("http_req_duration", "checks_total"):
            break
        if TOTALS in lines[at].text or "execution: local" in lines[at].text:
            break
        if name or lines[at].text.startswith("{ "):
            last = at
    return last + 1


def _in_group(lines: Sequence[Line], start: int) -> bool:
    """Whether the metrics at `start` are one group's: the totals stand before the groups."""
    for line in reversed(lines[max(0, start - 40) : start]):
        if TOTALS in line.text or _name(line) in ("vus_max", "data_sent"):
            return False
        if "GROUP: " in line.text or "SCENARIO: " in line.text:
            return True
    return False


def _name(line: Line) -> str:
    """The metric's name before its dots and colon; empty for another line."""
    head, colon, rest = line.text.partition(":")
    name = head.rstrip(".")
    return name if colon and rest[:1] == " " and name.replace("_", "").isalnum() else ""


def read_report(block: Sequence[Line]) -> ParsedTrial:
    """What the summary at the end of `block` says. Raises FormatError for one that is cut off."""
    metrics: dict[str, Line] = {}
    names = []
    for line in block:
        name = _name(line)
        names.append(name)
        if name in METRICS:
            metrics.setdefault(name, line)
    if "http_reqs" not in metrics or names[-1] in ("", "http_reqs", "http_req_duration"):
        raise _cut_off(block)
    total, rate = _counted(metrics["http_reqs"])
    failed = _failed(metrics.get("http_req_failed"))
    dropped = (
        _counted(metrics["dropped_iterations"])[0] if "dropped_iterations" in metrics else None
    )
    received, speed = _received(metrics.get("data_received"))
    asked = _scenario(block)
    latency, resolution = _latency(metrics.get("http_req_duration"), total)
    named = {
        "http_req_failed": failed,
        "checks_failed": _checks_failed(metrics),
        "dropped_iterations": dropped,
    }
    return counted(
        total,
        failed,
        **{**asked, **({"loop": "open"} if dropped else {})},
        reported_rps=rate,
        bytes_received=received,
        transfer_rate_bytes_s=speed,
        tool_errors={name: count for name, count in named.items() if count is not None},
        latency=latency,
        latency_resolution_us=resolution,
        incomplete="data_received" not in metrics,
    )


def _cut_off(block: Sequence[Line]) -> FormatError:
    return FormatError(
        "The k6 summary is cut off before its requests were counted.",
        tool=NAME,
        line=block[-1].number,
        found=block[-1].text,
        expected='a line such as "http_reqs....: 1086 356.281656/s" and those behind it',
    )


def _words(line: Line) -> list[str]:
    return line.text.partition(":")[2].split()


def _counted(line: Line) -> tuple[int, float]:
    """Count and rate of "http_reqs....: 1086 356.281656/s"."""
    words = _words(line)
    count = whole(words[0]) if words else None
    rate = number_of(words[1].removesuffix("/s")) if len(words) > 1 else None
    if count is None or rate is None or not words[1].endswith("/s"):
        raise _damaged(line, "a count and a rate, as 1086 356.281656/s")
    return count, rate


def _failed(line: Line | None) -> int | None:
    """How many of "http_req_failed...: 25.00% 75 out of 300"; marks and crosses before 0.49."""
    return None if line is None else _out_of(line, marks=("✓", "✗"))


def _checks_failed(metrics: dict[str, Line]) -> int | None:
    if "checks_failed" in metrics:
        return _out_of(metrics["checks_failed"])
    if "checks" not in metrics:
        return None
    line = metrics["checks"]
    words = _words(line)
    if "out" in words:
        passed, total = _pair(line)
        return total - passed
    return _out_of(line, marks=("✗", "✓"))


def _pair(line: Line) -> tuple[int, int]:
    words = _words(line)
    if len(words) >= 5 and words[2:4] == ["out", "of"]:
        first, second = whole(words[1]), whole(words[4])
        if first is not None and second is not None and first <= second:
            return first, second
    raise _damaged(line, "a share and two counts, as 25.00% 75 out of 300")


def _out_of(line: Line, *, marks: tuple[str, str] = ("", "")) -> int:
    words = _words(line)
    if marks[0] and marks[0] in words:
        position = words.index(marks[0]) + 1
        count = whole(words[position]) if position < len(words) else None
        if count is None:
            raise _damaged(line, "a count behind each mark")
        return count
    return _pair(line)[0]


def _received(line: Line | None) -> tuple[int | None, float | None]:
    """Bytes and bytes per second of "data_received...: 1.2 MB 393 kB/s"."""
    if line is None:
        return None, None
    words = _words(line)
    if len(words) < 4:
        raise _damaged(line, "bytes and a rate, as 1.2 MB 393 kB/s")
    total = scaled(words[0] + words[1], BYTES)
    speed = scaled(words[2] + words[3].removesuffix("/s"), BYTES)
    if total is None or speed is None or not words[3].endswith("/s"):
        raise _damaged(line, "bytes and a rate, as 1.2 MB 393 kB/s")
    return round(total), speed


def _latency(line: Line | None, total: int) -> tuple[Latency, float | None]:
    if line is None or not total:
        return Latency(), None
    figures = {}
    for word in _words(line):
        name, _, value = word.partition("=")
        microseconds = _time_us(value)
        if name == "count":
            continue
        if microseconds is None:
            raise _damaged(line, "times with units, as avg=27.59ms")
        figures[name] = microseconds
    return latency_of(figures), RESOLUTION_US


def _time_us(word: str) -> float | None:
    """The µs of "27.59ms", "1m2.5s" or "0s"."""
    digits, unit = _split(word)
    if unit in TIMES_US and (value := number_of(digits)) is not None:
        return round(value * TIMES_US[unit], 6)
    minutes, mark, rest = word.partition("m")
    if mark and rest and not rest.startswith("s"):
        hours, hour_mark, minute_digits = minutes.rpartition("h")
        parts = (number_of(hours) if hour_mark else 0.0, number_of(minute_digits), _time_us(rest))
        if None not in parts:
            return round((parts[0] or 0) * 3600e6 + (parts[1] or 0) * 60e6 + (parts[2] or 0), 6)
    return None


def _split(word: str) -> tuple[str, str]:
    if word.endswith(("µs", "μs")):
        return word[:-2], word[-2:]
    return split_unit(word)


def _damaged(line: Line, expected: str) -> FormatError:
    return FormatError(
        "The k6 summary has a damaged line.",
        tool=NAME,
        line=line.number,
        found=line.text,
        expected=expected,
    )


def _scenario(block: Sequence[Line]) -> dict[str, Any]:
    """What "* default: 5 looping VUs for 2s (…)" asked for; nothing where several scenarios ran."""
    lines = [line for line in block if line.text.startswith(SCENARIO) and ": " in line.text]
    asked = [found for line in lines if (found := _executor(line.text.partition(": ")[2]))]
    return asked[0] if len(asked) == 1 else {}


def _executor(words_text: str) -> dict[str, Any]:
    words = words_text.split()
    if len(words) >= 5 and words[1:4] == ["looping", "VUs", "for"]:
        return {
            "loop": "closed",
            "connections": whole(words[0]),
            "requested_duration_s": _seconds(words[4]),
        }
    if len(words) >= 4 and words[1] in ("iterations", "iterations/s"):
        if words[1] == "iterations/s":
            return {"loop": "open", "requested_duration_s": _seconds(words[3])}
        among = words[4] if words[2:4] == ["shared", "among"] else ""
        return {"loop": "closed", "connections": whole(among) if among else None}
    if "looping" in words[:3] or "Up" in words[:1]:
        return {"loop": "open" if "iterations/s" in words_text else "closed"}
    return {}


def _seconds(word: str) -> float | None:
    value = _time_us(word.rstrip(","))
    return None if value is None else value / 1e6
