"""boom in Python, hey's namesake (text, --json-output)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from backend.formats.model import Entry, Latency, ParsedTrial
from backend.formats.numbers import implied_elapsed_s, json_number, parse_count, parse_number
from backend.formats.refusals import read_figures
from backend.formats.runs import of_lines
from backend.formats.statuses import failed
from backend.formats.text import Line, Source, blocks
from backend.formats.transport_errors import counted_classes

NAME = "boom"
MARKS = ("Successful calls", '"amp"')
RESULTS = "-------- Results --------"
FAILURES, LEGEND = "-------- Errors --------", "-------- Legend --------"
JSON_KEYS = ("count", "total_time", "rps", "avg", "min", "max", "amp")
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
    if source.objects(JSON_KEYS):
        return "a JSON object has boom's keys (count, total_time, rps, amp)"
    for position in _starts(source.lines):
        return f"line {source.lines[position].number} begins boom's results: Successful calls"
    return None


def read(source: Source) -> list[Entry]:
    """Every run in the source, in order."""
    documents = source.objects(JSON_KEYS)
    if documents:
        return [_read_document(document.value) for document in documents]
    lines, starts = source.lines, _starts(source.lines)
    above = [lines[begin:end] for begin, end in pairwise([0, *starts])]
    return [
        of_lines(_report(before, block), [*before, *block])
        for before, block in zip(above, blocks(lines, starts), strict=True)
    ]


def _read_document(document: Mapping[str, Any]) -> Entry:
    return read_figures(
        lambda: _trial(
            {name: json_number(document.get(name, 0)) for name in (*JSON_KEYS, "stdev")},
            latency_resolution_us=1,
        ),
        title="boom JSON",
        expected="the object that boom --json-output prints",
    )


def _starts(lines: Sequence[Line]) -> list[int]:
    return [
        position
        for position, line in enumerate(lines[:-1])
        if line.text == RESULTS and lines[position + 1].text.startswith("Successful calls")
    ]


def _report(before: Sequence[Line], block: Sequence[Line]) -> Entry:
    figures = {
        key: figure
        for label, key in LABELS.items()
        if (figure := _figure(block, *label)) is not None
    }
    if len(figures) < len(LABELS):
        return block[-1].refusal(
            "The boom report is cut off before its rate.",
            expected='lines from "Successful calls" to "RPS"',
        )
    failures = _failures(before)
    return _trial(
        figures,
        latency_resolution_us=100,
        **_asked(before),
        **_outcomes(block, int(figures["count"]), failures),
        tool_errors=failures or {},
        incomplete=not any(line.text == LEGEND for line in block),
    )


def _outcomes(
    block: Sequence[Line], count: int, failures: Mapping[str, int] | None
) -> dict[str, Any]:
    """Successes, statuses and error classes; None if the statuses are not all printed."""
    classes = {} if failures is None else counted_classes(failures)
    statuses = dict(_statuses(block))
    if not statuses or sum(statuses.values()) != count:
        return {"requests_ok": None, "status_counts": None, "errors": {**classes, "status": None}}
    bad = failed(statuses)
    return {
        "requests_ok": count - bad,
        "status_counts": statuses,
        "errors": {**classes, "status": bad},
    }


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
    asked: dict[str, Any] = {}
    for line in before:
        words = line.words
        if words[:1] != ["Running"] or len(words) < 3:
            continue
        if words[2].startswith("http"):
            asked["url"] = words[2]
        elif words[2] == "queries":
            asked["requested_requests"] = parse_count(words[1])
            asked["connections"] = parse_count(words[-1].rstrip("."))
        elif words[1] == "for" and words[-2] == "concurrency":
            asked["requested_duration_s"] = parse_number(words[2])
            asked["connections"] = parse_count(words[-1].rstrip("."))
    return asked


def _failures(before: Sequence[Line]) -> dict[str, int] | None:
    """Errors stand one a line above the results; None where what stood there is not shown."""
    texts = [line.text for line in before]
    if FAILURES in texts:
        return Counter(text for text in texts[texts.index(FAILURES) + 1 :] if text)
    return {} if any(text.startswith("Starting the load") for text in texts) else None


def _trial(figures: Mapping[str, Any], **others: Any) -> ParsedTrial:
    count = int(figures["count"])
    mean, stdev, low, high = (
        round(figures[name] * 1e6, 6) for name in ("avg", "stdev", "min", "max")
    )
    return ParsedTrial(
        tool=NAME,
        elapsed_s=figures["total_time"],
        exact_elapsed_s=implied_elapsed_s(
            figures["total_time"],
            step_s=0.0001,
            count=count,
            rate_rps=figures["rps"],
            rate_step=0.01,
        ),
        requests_completed=count,
        reported_rps=figures["rps"],
        latency=Latency(mean_us=mean, stdev_us=stdev, min_us=low, max_us=high)
        if count
        else Latency(),
        latency_origin="summary" if count else None,
        **others,
    )
