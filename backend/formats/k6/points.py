"""k6's points: --out json (a JSON object a line) and --out csv. One http_reqs a request.

A request is some thirteen consecutive points with the same time and tags; only those of
http_req_duration and a few counters are looked at, the other lines are passed over as bytes.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import orjson

from backend.formats.logs import line_chunks
from backend.formats.model import FormatError, ParsedTrial
from backend.formats.text import Source
from backend.formats.timeline import Gathering

NAME = "k6"
CSV_HEAD = "metric_name,timestamp,metric_value"
# Classes of k6's error codes; 14xx and 15xx are statuses.
CONNECT_CODES = range(1100, 1220)
TIMEOUT_CODES = (1050, 1211)
READ_CODES = (1000, 1020, 1220, 1221)
OK_STATUS = range(200, 400)
WANTED = {
    b"http_req_duration": "duration",
    b"data_received": "received",
    b"dropped_iterations": "dropped",
    b"checks": "checks",
}


def is_ndjson(source: Source) -> bool:
    """Whether this is k6's --out json."""
    head = source.first_line[:200]
    return (
        head.startswith("{")
        and '"metric":"' in source.first_line
        and ('"type":"Metric"' in head or '"type":"Point"' in head)
    )


def is_csv(source: Source) -> bool:
    """Whether this is k6's --out csv."""
    return source.first_line.startswith(CSV_HEAD)


class _Tally:
    """What the points add up to."""

    def __init__(self) -> None:
        self.gathering = Gathering()
        self.statuses: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.classes: Counter[str] = Counter()
        self.urls: set[str] = set()
        self.received = 0.0
        self.dropped = self.checks_failed = 0
        self.checks = False
        self._durations: list[float] = []
        self._ends: list[float] = []
        self._statuses: list[str] = []

    def request(self, duration_ms: float, end_s: float | None, tags: Any) -> None:
        status = str(tags.get("status") or "0")
        self._durations.append(duration_ms)
        self._statuses.append(status)
        if end_s is not None:
            self._ends.append(end_s)
        if len(self.urls) < 2 and tags.get("url"):
            self.urls.add(str(tags["url"]))
        if status == "0":
            self.errors[str(tags.get("error") or "unknown")] += 1
            self.classes[_class_of(str(tags.get("error_code") or ""))] += 1
        if len(self._durations) >= 1 << 16:
            self.flush()

    def flush(self) -> None:
        """Hand what was kept to the histogram."""
        if not self._durations:
            return
        latency = np.array(self._durations) * 1000
        if latency.min() < 0 or latency.max() > 1e12:
            raise ValueError("a duration below 0 or above a week")
        self.statuses.update(self._statuses)
        # The end is what k6 writes; the start is that much before it.
        start = np.array(self._ends) - latency / 1e6 if self._ends else None
        distinct = {status: _is_ok(status) for status in set(self._statuses)}
        failed = np.array([not distinct[status] for status in self._statuses])
        self.gathering.add(latency, start_s=start, failed=failed)
        self._durations, self._ends, self._statuses = [], [], []

    def trial(self, *, incomplete: bool) -> ParsedTrial:
        self.flush()
        samples = self.gathering.histogram.count
        if not samples:
            raise FormatError(
                "The k6 points hold no HTTP request.",
                tool=NAME,
                found="no http_req_duration",
                expected="a point of http_req_duration for each request",
            )
        answered = {code: count for code, count in self.statuses.items() if code != "0"}
        ok = sum(count for code, count in answered.items() if _is_ok(code))
        named = {
            **self.errors,
            **({"checks_failed": self.checks_failed} if self.checks_failed else {}),
            **({"dropped_iterations": self.dropped} if self.dropped else {}),
        }
        classes = ("connect", "read", "write", "timeout", "other")
        return ParsedTrial(
            tool=NAME,
            url=next(iter(self.urls)) if len(self.urls) == 1 else None,
            loop="open" if self.dropped else None,
            requests_completed=sum(answered.values()),
            requests_ok=ok,
            bytes_received=round(self.received),
            errors={
                **{name: self.classes[name] for name in classes},
                "status": sum(answered.values()) - ok,
            },
            tool_errors=named,
            status_counts=dict(sorted(answered.items())),
            latency_origin="samples",
            latency_resolution_us=0.001,
            samples=samples,
            histogram=self.gathering.histogram,
            timeline=self.gathering.timeline(),
            incomplete=incomplete,
        )


def _is_ok(status: str) -> bool:
    return status.isdigit() and int(status) in OK_STATUS


def _class_of(code: str) -> str:
    number = int(code) if code.isdigit() else 0
    if number in TIMEOUT_CODES:
        return "timeout"
    if number in READ_CODES:
        return "read"
    return "connect" if number in CONNECT_CODES else "other"


def read_ndjson(source: Source) -> ParsedTrial:
    """Every request of --out json; a last line that is cut off is left out."""
    tally, is_cut = _Tally(), False
    for number, chunk in line_chunks(source):
        is_cut = not chunk.endswith(b"\n")
        if is_cut and not chunk.endswith(b"}"):
            break
        for name, kind in WANTED.items():
            _take_all(tally, kind, b'"metric":"%b"' % name, number, chunk)
    return tally.trial(incomplete=is_cut)


def _take_all(tally: _Tally, kind: str, mark: bytes, number: int, chunk: bytes) -> None:
    """Every point of one metric in a chunk, found at the speed of a search."""
    at = chunk.find(mark)
    while at >= 0:
        begin = chunk.rfind(b"\n", 0, at) + 1
        end = chunk.find(b"\n", at)
        end = len(chunk) if end < 0 else end
        line = chunk[begin:end]
        if b'"type":"Point"' in line:
            try:
                _take(tally, kind, orjson.loads(line)["data"])
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
                raise _damaged(number + chunk.count(b"\n", 0, begin), line) from None
        at = chunk.find(mark, end)


def _take(tally: _Tally, kind: str, data: Any) -> None:
    value = float(data["value"])
    if kind == "duration":
        tally.request(value, _seconds(data["time"]), data["tags"])
    else:
        _count(tally, kind, value)


def _count(tally: _Tally, kind: str, value: float) -> None:
    if kind == "received":
        tally.received += value
    elif kind == "dropped":
        tally.dropped += int(value)
    elif value == 0:
        tally.checks_failed += 1


def _seconds(stamp: str) -> float:
    """Seconds since the epoch of "2026-11-21T03:05:51.713064225Z"; decimals vary."""
    whole, _, rest = stamp.partition(".")
    digits = rest.rstrip("Z0123456789+-:")
    fraction = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    zone = rest[len(fraction) :] or ("Z" if stamp.endswith("Z") else "")
    if digits:
        raise ValueError(stamp)
    base = whole.removesuffix("Z") + ("+00:00" if zone in ("Z", "") else zone)
    return _epoch(base) + (float(f"0.{fraction}") if fraction else 0.0)


_epochs: dict[str, float] = {}


def _epoch(stamp: str) -> float:
    """Seconds of a whole second: thousands of points share one."""
    found = _epochs.get(stamp)
    if found is None:
        if len(_epochs) > 10_000:
            _epochs.clear()
        found = _epochs[stamp] = datetime.fromisoformat(stamp).timestamp()
    return found


def read_csv(source: Source) -> ParsedTrial:
    """Every request of --out csv; its times are whole seconds, too coarse for a time series."""
    tally, columns = _Tally(), source.first_line.split(",")
    for number, chunk in line_chunks(source):
        is_cut = not chunk.endswith(b"\n")
        for offset, row in enumerate(_rows(number, chunk)):
            kind = WANTED.get(row[0].encode()) if row else None
            if kind is None or (is_cut and len(row) != len(columns)):
                continue
            try:
                _take_row(tally, kind, dict(zip(columns, row, strict=True)))
            except (KeyError, ValueError, OverflowError):
                raise _damaged(number + offset, ",".join(row).encode()) from None
    return tally.trial(incomplete=False)


def _rows(number: int, chunk: bytes) -> Iterator[Sequence[str]]:
    rows = csv.reader(io.StringIO(chunk.decode(errors="replace")))
    try:
        yield from rows
    except csv.Error as wrong:
        raise FormatError(
            "The k6 output has a damaged line.",
            tool=NAME,
            line=number + rows.line_num - 1,
            found=str(wrong),
            expected="cells between commas",
        ) from None


def _take_row(tally: _Tally, kind: str, row: dict[str, str]) -> None:
    value = float(row["metric_value"])
    if kind == "duration":
        tally.request(value, None, row)
    else:
        _count(tally, kind, value)


def _damaged(number: int, line: bytes) -> FormatError:
    return FormatError(
        "The k6 output has a damaged line.",
        tool=NAME,
        line=number,
        found=line.decode(errors="replace"),
        expected="a point of a metric with its value, time and tags",
    )
