"""The JSON object that weighttp 0.5 prints."""

from collections.abc import Mapping
from typing import Any

from backend.formats.model import Entry, Latency, ParsedTrial
from backend.formats.numbers import json_count, json_number
from backend.formats.refusals import read_json
from backend.formats.statuses import FINAL_CLASSES
from backend.formats.text import Document, Source
from backend.formats.weighttp.report import (
    KILOBYTE,
    completed_of,
    error_classes,
    rate_disagreements,
)
from backend.formats.weighttp.start import Start

FIRST_KEY = '"reqs_per_sec"'
KEYS = frozenset(("reqs_per_sec", "secs_elapsed", "request_counts", "response_counts"))


def documents(source: Source) -> list[Document]:
    """Every JSON object with weighttp's keys, and every broken one that begins with its first."""
    if FIRST_KEY not in source.text:
        return []
    begun = {line.number for line in source.lines if FIRST_KEY in line.text}
    return [document for document in source.documents if _is_ours(document, begun)]


def _is_ours(document: Document, begun: set[int]) -> bool:
    if document.value is None:
        return not begun.isdisjoint((document.line, document.line + 1))
    return isinstance(document.value, dict) and document.value.keys() >= KEYS


def read_document(document: Document, start: Start) -> Entry:
    """The run in the object, or why the object holds no run."""
    expected = "the whole object that weighttp 0.5 prints"
    return read_json(_trial, document, start, tool="weighttp", expected=expected)


def _trial(document: Mapping[str, Any], start: Start) -> ParsedTrial:
    counts, responses = document["request_counts"], document["response_counts"]
    started, done = json_count(counts["started"]), json_count(counts["retired"])
    passed, failed = json_count(responses["pass"]), json_count(responses["fail"])
    status = {name: json_count(document["status_codes"][name]) for name in FINAL_CLASSES}
    elapsed, rate = json_number(document["secs_elapsed"]), json_number(document["reqs_per_sec"])
    if done != passed + failed:
        raise ValueError(f"{done} requests retired, {passed} passed and {failed} failed")
    asked = start.agreeing(at_least=started)
    latency = _latency(document["total_times"]) if sum(status.values()) else Latency()
    return ParsedTrial(
        tool_version=start.version,
        connections=asked.connections,
        threads=asked.threads,
        requested_requests=asked.requests,
        elapsed_s=elapsed,
        requests_completed=completed_of(status, passed, failed),
        requests_ok=passed,
        attempts=done,
        failed=failed,
        reported_rps=rate,
        bytes_received=_traffic(document["traffic"]),
        body_bytes=json_count(document["traffic"]["bytes_body"]),
        transfer_rate_bytes_s=json_number(document["kBps_per_sec"]) * KILOBYTE,
        errors=error_classes(status, failed),
        tool_errors={"fail": failed, "errs": json_count(responses["errs"])},
        status_counts=status,
        latency=latency,
        latency_origin="percentiles" if latency.percentiles else None,
        latency_resolution_us=1 if latency.percentiles else None,
        disagreements=rate_disagreements(done, elapsed, rate),
        extra={
            "format": "json",
            "extra": {"started": started, "retired": done, **_kept_alive(counts)},
        },
    )


def _kept_alive(counts: Mapping[str, Any]) -> dict[str, int]:
    """Requests on a connection that was there; versions on the way to 0.5 do not tell it."""
    return {"keep-alive": json_count(counts["keep-alive"])} if "keep-alive" in counts else {}


def _traffic(sizes: Mapping[str, Any]) -> int:
    total = json_count(sizes["bytes_total"])
    if total != json_count(sizes["bytes_headers"]) + json_count(sizes["bytes_body"]):
        raise ValueError(f"{total} bytes in all are not those of headers and bodies")
    return total


def _latency(times: Mapping[str, Any]) -> Latency:
    if times["unit"] != "us":
        raise ValueError(f"times in {times['unit']!r}, not in us")
    points = {name[:-1]: json_number(value) for name, value in times.items() if name.endswith("%")}
    ordered = [points[name] for name in sorted(points, key=int)]
    if ordered != sorted(ordered):
        raise ValueError("percentiles that fall")
    lowest = points.pop("0")
    return Latency(
        mean_us=json_number(times["avg"]),
        stdev_us=json_number(times["stddev"]),
        min_us=lowest,
        max_us=points["100"],
        percentiles=points,
    )
