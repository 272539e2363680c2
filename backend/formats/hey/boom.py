"""boom in Python, hey's namesake (text, --json-output)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from backend.formats.model import FormatError, Latency, ParsedTrial
from backend.formats.numbers import parse_count, parse_number
from backend.formats.text import Line, Source, blocks
from backend.formats.transport_errors import counted_classes

NAME = "boom"
MARKS = ("Successful calls", '"amp"')
RESULTS = "-------- Results --------"
FAILURES, LEGEND = "-------- Errors --------", "-------- Legend --------"
JSON_KEYS = ("count", "total_time", "rps", "avg", "min", "max", "amp")
MOST = 1e12
# What stands before and behind each figure, and its name in the JSON.
LABELS = {
    ("Successful calls", ""): "count",
    ("Total time", "s"): "total_time",
    ("Average", "s"): "avg",
    ("Fastest", "s"): "min",
    ("Slowest", "s"): "max",
    ("Standard deviation", ""): "stdev",
    ("RPS", ""): "rps",
}


def claims(source: Source) -> str | None:
    """Why this is output of boom in Python, or None."""
    if any(document.keys() >= set(JSON_KEYS) for document in _documents(source)):
        return "a JSON object has boom's keys (count, total_time, rps, amp)"
    for position in _starts(source.lines):
        return f"line {source.lines[position].number} begins boom's results: Successful calls"
    return None


def read(source: Source) -> list[ParsedTrial | FormatError]:
    """Every run in the source, in order."""
    documents = [one for one in _documents(source) if one.keys() >= set(JSON_KEYS)]
    if documents:
        return [_read_or_refuse(one) for one in documents]
    lines, starts = source.lines, _starts(source.lines)
    above = [lines[begin:end] for begin, end in pairwise([0, *starts])]
    return [
        _report(before, block) for before, block in zip(above, blocks(lines, starts), strict=True)
    ]


def _documents(source: Source) -> list[Mapping[str, Any]]:
    found = source.documents if '"amp"' in source.text else []
    return [document.value for document in found if isinstance(document.value, dict)]


def _read_or_refuse(document: Mapping[str, Any]) -> ParsedTrial | FormatError:
    figures = {name: document.get(name, 0) for name in (*JSON_KEYS, "stdev")}
    if not all(type(value) in (int, float) and 0 <= value < MOST for value in figures.values()):
        return FormatError(
            "boom's JSON has a figure that is no number.",
            tool=NAME,
            found=str(figures),
            expected="the object that boom --json-output prints",
        )
    return _trial(figures, latency_resolution_us=1)


def _starts(lines: Sequence[Line]) -> list[int]:
    return [
        position
        for position, line in enumerate(lines[:-1])
        if line.text == RESULTS and lines[position + 1].text.startswith("Successful calls")
    ]


def _report(before: Sequence[Line], block: Sequence[Line]) -> ParsedTrial | FormatError:
    figures = {key: _figure(block, *label) for label, key in LABELS.items()}
    count = figures["count"]
    if count is None or any(value is None for value in figures.values()):
        return FormatError(
            "The boom report is cut off before its rate.",
            tool=NAME,
            line=block[-1].number,
            found=block[-1].text,
            expected='lines from "Successful calls" to "RPS"',
        )
    statuses = dict(_statuses(block))
    if sum(statuses.values()) != count:
        statuses = {}
    asked, failures = _asked(before), _failures(before)
    bad = sum(count for code, count in statuses.items() if code >= "400") if statuses else None
    return _trial(
        figures,
        latency_resolution_us=100,
        **asked,
        requests_ok=None if bad is None else int(count) - bad,
        status_counts=statuses or None,
        errors={**(counted_classes(failures) if failures is not None else {}), "status": bad},
        tool_errors=failures or {},
        incomplete=not any(line.text == LEGEND for line in block),
    )


def _figure(block: Sequence[Line], label: str, unit: str) -> float | None:
    for line in block:
        words = line.text.removeprefix(label).split()
        if line.text.startswith(label) and words[1:] == unit.split():
            return parse_number(words[0])
    return None


def _statuses(block: Sequence[Line]) -> Iterator[tuple[str, int]]:
    for line in block:
        words = line.words
        if len(words) == 4 and words[0] == "Code" and words[3] == "times.":
            yield words[1], parse_count(words[2]) or 0


def _asked(before: Sequence[Line]) -> dict[str, Any]:
    """URL, requests or duration, and connections, from the lines above the results."""
    found: dict[str, Any] = {}
    for line in before:
        words = line.words
        if words[:1] != ["Running"] or len(words) < 3:
            continue
        if words[2].startswith("http"):
            found["url"] = words[2]
        elif words[2] == "queries":
            found["requested_requests"] = parse_count(words[1])
            found["connections"] = parse_count(words[-1].rstrip("."))
        elif words[1] == "for" and words[-2] == "concurrency":
            found["requested_duration_s"] = parse_number(words[2])
            found["connections"] = parse_count(words[-1].rstrip("."))
    return found


def _failures(before: Sequence[Line]) -> dict[str, int] | None:
    """Errors stand one a line above the results; None where what stood there is not shown."""
    texts = [line.text for line in before]
    if FAILURES in texts:
        return Counter(text for text in texts[texts.index(FAILURES) + 1 :] if text)
    return {} if any(text.startswith("Starting the load") for text in texts) else None


def _trial(figures: Mapping[str, Any], **known: Any) -> ParsedTrial:
    count = int(figures["count"])
    mean, stdev, low, high = (
        round(figures[name] * 1e6, 6) for name in ("avg", "stdev", "min", "max")
    )
    return ParsedTrial(
        tool=NAME,
        elapsed_s=figures["total_time"],
        requests_completed=count,
        reported_rps=figures["rps"],
        latency=Latency(mean_us=mean, stdev_us=stdev, min_us=low, max_us=high)
        if count
        else Latency(),
        latency_origin="summary" if count else None,
        **known,
    )
