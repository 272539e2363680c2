"""What locust prints with --json: a list with a member for each name of a request."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backend.formats.locust.tables import MOST_SLICES, slice_of
from backend.formats.model import Entry, Latency, ParsedTrial, TimeSlice
from backend.formats.numbers import LONGEST_MS, json_count, json_number
from backend.formats.refusals import read_json
from backend.formats.text import Document
from backend.stats import Histogram

COUNTS = ("num_requests", "num_none_requests", "num_failures", "total_content_length")


def is_stats(value: Any) -> bool:
    """Whether a JSON value is locust's."""
    if not isinstance(value, list) or not value:
        return False
    first = value[0]
    return isinstance(first, dict) and {"num_requests", "response_times"} <= first.keys()


def read_document(document: Document) -> Entry:
    """The members summed, or why they are no statistics."""
    expected = "the whole list that locust --json prints, unchanged"
    return read_json(_read, document, tool="locust", expected=expected)


def _read(members: Sequence[Mapping[str, Any]]) -> ParsedTrial:
    requests, silent, failures, size = (
        sum(json_count(member.get(name, 0)) for member in members) for name in COUNTS
    )
    timed = requests - silent
    histogram = _histogram(members, timed)
    if failures > requests:
        raise ValueError(f"{failures} failures of {requests} requests")
    return ParsedTrial(
        elapsed_s=_elapsed_s(members),
        requests_completed=None if failures else requests,
        requests_ok=requests - failures,
        attempts=requests,
        failed=failures,
        bytes_received=size,
        tool_errors={"num_failures": failures, "num_none_requests": silent},
        latency=_latency(members, timed) if timed else Latency(),
        latency_origin="histogram" if timed else None,
        latency_resolution_us=1000,
        histogram=histogram if timed else None,
        timeline=_timeline(members),
    )


def _histogram(members: Sequence[Mapping[str, Any]], timed: int) -> Histogram:
    """The response times; raises ValueError where they are not of all requests with a time."""
    buckets = _summed(members, "response_times")
    if sum(buckets.values()) != timed or max(buckets, default=0) > LONGEST_MS:
        raise ValueError(f"response_times hold {sum(buckets.values())} of {timed} requests")
    return Histogram.from_counts(
        np.array(list(buckets), dtype=np.int64) * 1000,
        np.array(list(buckets.values()), dtype=np.int64),
    )


def _latency(members: Sequence[Mapping[str, Any]], timed: int) -> Latency:
    total = sum(json_number(member["total_response_time"]) for member in members)
    lows = [
        json_number(m["min_response_time"]) for m in members if m["min_response_time"] is not None
    ]
    highs = [json_number(member["max_response_time"]) for member in members]
    return Latency(
        mean_us=round(total / timed * 1000, 3),
        min_us=round(min(lows) * 1000, 3) if lows else None,
        max_us=round(max(highs) * 1000, 3),
    )


def _elapsed_s(members: Sequence[Mapping[str, Any]]) -> float | None:
    """From the first start to the last request; None if there was none."""
    ends = [
        json_number(m["last_request_timestamp"]) for m in members if m["last_request_timestamp"]
    ]
    starts = [json_number(member["start_time"]) for member in members]
    if not ends:
        return None
    if max(ends) < min(starts):
        raise ValueError(f"the last request at {max(ends)}, before the start at {min(starts)}")
    return round(max(ends) - min(starts), 6)


def _timeline(members: Sequence[Mapping[str, Any]]) -> tuple[TimeSlice, ...]:
    requests, failed = (_summed(members, name) for name in ("num_reqs_per_sec", "num_fail_per_sec"))
    seconds = requests.keys() | failed.keys()
    if not seconds or max(seconds) - min(seconds) >= MOST_SLICES:
        return ()
    first = min(seconds)
    return tuple(
        slice_of(float(second - first), 1.0, requests.get(second, 0), failed.get(second, 0))
        for second in range(first, max(seconds) + 1)
    )


def _summed(members: Sequence[Mapping[str, Any]], name: str) -> dict[int, int]:
    sums: dict[int, int] = {}
    for member in members:
        for key, count in member.get(name, {}).items():
            # Whole in locust, but a test may round its buckets otherwise.
            at = round(json_number(float(key)))
            sums[at] = sums.get(at, 0) + json_count(count)
    return sums
