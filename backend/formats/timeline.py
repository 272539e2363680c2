"""Gathering requests as they are read: one histogram of the trial, one a second of its time."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.formats.model import TimeSlice
from backend.stats import Histogram
from backend.stats.histogram import whole

# A day: what lasts longer, or has a clock that jumped, is kept without a time series.
MOST_SECONDS = 86_400
# Keys kept before they are counted together; 8 bytes each.
MOST_KEYS = 1 << 20
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
        self._keys: list[Integers] = []
        self._counts: list[Integers] = []
        self._kept = 0

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
        self._keep(seconds, marks)
        if responded is not None and timed is not None:
            self._keep_mark(seconds, timed & ~responded, UNANSWERED)
        if failed is not None:
            self._keep_mark(seconds, failed, FAILED)

    @property
    def mean_us(self) -> float | None:
        """The exact mean; None without a latency."""
        return self.total_us / self.histogram.count if self.histogram.count else None

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

    def _keep_mark(self, seconds: Integers, which: NDArray[np.bool_], mark: int) -> None:
        marked = seconds[which]
        if len(marked):
            self._keep(marked, np.full(len(marked), mark, dtype=np.int64))

    def _keep(self, seconds: Integers, marks: Integers) -> None:
        """Count requests by their second and their mark or bucket."""
        keys = np.sort(seconds << BUCKET_BITS | marks)
        begins = _begins(keys)
        self._keys.append(keys[begins])
        self._counts.append(np.diff(begins, append=len(keys)))
        self._kept += len(begins)
        if self._kept > MOST_KEYS:
            self._compact()

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
        if not self._keys or self.first_start_s is None or self._origin_s is None:
            return ()
        self._compact()
        keys, counts = self._keys[0], self._counts[0]
        seconds = keys >> BUCKET_BITS
        first, last = int(seconds[0]), int(seconds[-1])
        if last - first >= MOST_SECONDS:
            return ()
        edges = np.searchsorted(seconds, np.arange(first, last + 2)).tolist()
        marks = keys & ((1 << BUCKET_BITS) - 1)
        return tuple(
            _slice(second, marks[begin:end], counts[begin:end])
            for second, (begin, end) in enumerate(pairwise(edges))
        )


def _begins(keys: Integers) -> Integers:
    """Where each key first stands, among sorted ones."""
    is_first = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)


def _slice(second: int, marks: Integers, counts: Integers) -> TimeSlice:
    """The slice of a second's marks and buckets, which rise."""
    begin = int(np.searchsorted(marks, BUCKETS))
    of_mark = dict(zip(marks[:begin].tolist(), counts[:begin].tolist(), strict=True))
    histogram = Histogram.from_buckets(marks[begin:] - BUCKETS, counts[begin:])
    return TimeSlice(
        start_s=float(second),
        length_s=1.0,
        completed=histogram.count - of_mark.get(UNANSWERED, 0),
        failed=of_mark.get(FAILED, 0),
        histogram=histogram.encode() if histogram.count else None,
    )
