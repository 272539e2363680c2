"""Adds up requests as they are read: one histogram of the trial, and one for each second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from backend.formats.model import Latency, TimeSlice
from backend.stats import Histogram
from backend.stats.histogram import whole

# A day: what lasts longer, or has a clock that jumped, is kept without a time series.
MOST_SECONDS = 86_400
# Keys kept before they are counted together; 8 bytes each.
MOST_KEYS = 1 << 20
# A chunk with so many keys a second gives a part of each second, which takes a tenth of their room.
KEYS_OF_PART = 50
# Bits of a key that hold a mark or the latency's bucket behind the marks; the bits above hold the
# second.
BUCKET_BITS = 20
FAILED, NO_LATENCY, UNANSWERED, BUCKETS = range(4)

Integers = NDArray[np.int64]


class Gathering:
    """Requests added chunk by chunk, in any order, in memory that does not grow with their number.

    A request belongs to the second in which it ended, counted from the first request's start.
    """

    def __init__(self) -> None:
        self.histogram = Histogram()
        self.completed = self.failed = 0
        # Exact, of the latencies counted.
        self.total_us = 0
        self.min_us: int | None = None
        self.max_us: int | None = None
        self.first_start_s: float | None = None
        self.last_end_s: float | None = None
        self._origin_s: float | None = None
        # The first and the last second in which a request ended.
        self._span: tuple[int, int] | None = None
        # What was counted in each second: a part of each chunk that has many requests of it,
        # packed in a thread beside the counting …
        self._parts: list[Future[list[tuple[int, _Part]]]] = []
        # … and the keys of chunks that have few, as those in no order of time.
        self._keys: list[Integers] = []
        self._counts: list[Integers] = []
        self._kept = 0

    @cached_property
    def _packer(self) -> ThreadPoolExecutor:
        # Made when it is needed: a file may have 50,000 runs without requests.
        return ThreadPoolExecutor(1)

    def add(
        self,
        latency_us: NDArray[Any],
        *,
        start_s: NDArray[Any] | None = None,
        failed: NDArray[np.bool_] | None = None,
        responded: NDArray[np.bool_] | None = None,
        timed: NDArray[np.bool_] | None = None,
    ) -> None:
        """Requests of one chunk: arrays of one length, a value each.

        `latency_us` in µs, `start_s` in seconds of any one clock, `failed` for attempts that
        failed in any class, `responded` for those that got a whole response (all, without it).
        Latencies of attempts without a response are not counted, unless the tool counts them:
        `timed` then says whose are. Raises ValueError for a negative latency.
        """
        if not len(latency_us):
            return
        values = whole(latency_us)
        counted = responded if timed is None else timed
        marks = self._add_latencies(values, counted)
        self.completed += len(values) if responded is None else int(np.count_nonzero(responded))
        self.failed += 0 if failed is None else int(np.count_nonzero(failed))
        if start_s is None:
            return
        seconds = self._seconds(start_s, values)
        keys = [seconds << BUCKET_BITS | marks]
        if responded is not None and timed is not None:
            keys.append(seconds[timed & ~responded] << BUCKET_BITS | UNANSWERED)
        if failed is not None:
            keys.append(seconds[failed] << BUCKET_BITS | FAILED)
        self._keep(np.concatenate(keys), int(seconds.min()), int(seconds.max()))

    @property
    def latency(self) -> Latency:
        """The exact mean, least and greatest of the latencies that were counted."""
        count = self.histogram.count
        mean_us = round(self.total_us / count, 3) if count else None
        return Latency(mean_us=mean_us, min_us=self.min_us, max_us=self.max_us)

    def sampled(self, resolution_us: float, *, samples: int | None = None) -> dict[str, Any]:
        """The fields of a trial with these latencies; `samples` where not all were answered."""
        return {
            "latency_origin": "samples",
            "latency_resolution_us": resolution_us,
            "samples": self.completed if samples is None else samples,
            "histogram": self.histogram,
            "timeline": self.timeline(),
        }

    def elapsed_s(self, digits: int) -> float | None:
        """From the first start to the last end, rounded; None if no start is known."""
        first, last = self.first_start_s, self.last_end_s
        return None if first is None or last is None else round(last - first, digits)

    def _add_latencies(self, values: Integers, counted: NDArray[np.bool_] | None) -> Integers:
        """Add the latencies that are counted (all, without it); a mark or bucket of each value."""
        if counted is None or counted.all():
            self._add_extremes(values)
            return self.histogram.record(values) + BUCKETS
        marks = np.full(len(values), NO_LATENCY, dtype=np.int64)
        if counted.any():
            marks[counted] = self._add_latencies(values[counted], None)
        return marks

    def _add_extremes(self, values: Integers) -> None:
        low, high = int(values.min()), int(values.max())
        self.total_us += int(values.sum())
        self.min_us = low if self.min_us is None else min(low, self.min_us)
        self.max_us = high if self.max_us is None else max(high, self.max_us)

    def _seconds(self, start_s: NDArray[Any], values: Integers) -> Integers:
        """The second in which each request ended, counted from the first chunk's first start."""
        end_s = values / 1e6
        end_s += start_s
        first, last = float(start_s.min()), float(end_s.max())
        self.first_start_s = min(first, first if self.first_start_s is None else self.first_start_s)
        self.last_end_s = max(last, last if self.last_end_s is None else self.last_end_s)
        if self._origin_s is None:
            self._origin_s = first
        end_s -= self._origin_s
        seconds: Integers = np.floor(end_s, out=end_s).astype(np.int64)
        return seconds

    def _keep(self, keys: Integers, first: int, last: int) -> None:
        """Count the keys of a chunk, whose requests ended between these seconds."""
        low, high = self._span or (first, last)
        self._span = min(first, low), max(last, high)
        if self._is_too_long:
            self._keys, self._counts, self._kept, self._parts = [], [], 0, []
            return
        keys.sort()
        begins = _begins(keys)
        keys, counts = keys[begins], np.diff(begins, append=len(keys))
        if len(keys) >= KEYS_OF_PART * (last - first + 1):
            self._add_parts(keys, counts)
            return
        self._keys.append(keys)
        self._counts.append(counts)
        self._kept += len(keys)
        if self._kept > MOST_KEYS:
            self._compact()

    @property
    def _is_too_long(self) -> bool:
        return self._span is not None and self._span[1] - self._span[0] >= MOST_SECONDS

    def _add_parts(self, keys: Integers, counts: Integers) -> None:
        self._parts.append(self._packer.submit(lambda: list(_parts(keys, counts))))

    def _by_second(self) -> dict[int, list[_Part]]:
        parts: dict[int, list[_Part]] = {}
        for packed in self._parts:
            for second, part in packed.result():
                parts.setdefault(second, []).append(part)
        return parts

    def _compact(self) -> None:
        keys, counts = np.concatenate(self._keys), np.concatenate(self._counts)
        # Stable, since that is the fastest for the sorted runs that these are.
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        begins = _begins(keys)
        self._keys, self._counts = [keys[begins]], [np.add.reduceat(counts[order], begins)]
        self._kept = 0

    def timeline(self) -> tuple[TimeSlice, ...]:
        """A slice for each second from the first request to the last, empty ones included."""
        if self._span is None or self._is_too_long:
            return ()
        if self._keys:
            self._compact()
            self._add_parts(self._keys.pop(), self._counts.pop())
        first, last = self._span
        parts = self._by_second()
        return tuple(
            _slice(start, parts.get(second, ()))
            for start, second in enumerate(range(first, last + 1))
        )


class _Part(NamedTuple):
    """What was counted in a second."""

    completed: int
    failed: int
    histogram: bytes | None


def _begins(keys: Integers) -> Integers:
    """Where each key first stands, among sorted ones."""
    is_first = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)


def _parts(keys: Integers, counts: Integers) -> Iterator[tuple[int, _Part]]:
    """The seconds of keys in order, and what was counted in each."""
    seconds, marks = keys >> BUCKET_BITS, keys & ((1 << BUCKET_BITS) - 1)
    begins = _begins(seconds)
    edges = pairwise([*begins.tolist(), len(keys)])
    for second, (begin, end) in zip(seconds[begins].tolist(), edges, strict=True):
        yield second, _part(marks[begin:end], counts[begin:end])


def _part(marks: Integers, counts: Integers) -> _Part:
    buckets = int(np.searchsorted(marks, BUCKETS))
    of_mark = dict(zip(marks[:buckets].tolist(), counts[:buckets].tolist(), strict=True))
    histogram = Histogram.from_buckets(marks[buckets:] - BUCKETS, counts[buckets:])
    return _Part(
        completed=histogram.count - of_mark.get(UNANSWERED, 0),
        failed=of_mark.get(FAILED, 0),
        histogram=histogram.encode() or None,
    )


def _slice(start: int, parts: Sequence[_Part]) -> TimeSlice:
    histograms = [part.histogram for part in parts if part.histogram]
    if len(histograms) > 1:
        histograms = [Histogram.merge_all(map(Histogram.decode, histograms)).encode()]
    return TimeSlice(
        start_s=float(start),
        length_s=1.0,
        completed=sum(part.completed for part in parts),
        failed=sum(part.failed for part in parts),
        histogram=histograms[0] if histograms else None,
    )
