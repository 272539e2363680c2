"""Gathering requests as they are read: one histogram of the trial, one a second of its time."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.formats.model import TimeSlice
from backend.stats import Histogram
from backend.stats.histogram import bucket_of, highest_us

# A day: what lasts longer, or has a clock that jumped, is kept without a time series.
MOST_SECONDS = 86_400
# Keys kept before they are counted together; 8 bytes each.
MOST_KEYS = 1 << 20
# Bits of a key that hold the latency's bucket or a mark; the bits above hold the second.
BUCKET_BITS = 20
FAILED, NO_LATENCY, UNANSWERED = ((1 << BUCKET_BITS) - mark for mark in (1, 2, 3))

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
        values = np.rint(latency_us).astype(np.int64)
        answered = np.ones(len(values), dtype=bool) if responded is None else responded
        counted = answered if timed is None else timed
        self._add_latencies(values[counted])
        self.completed += int(answered.sum())
        self.failed += 0 if failed is None else int(failed.sum())
        if start_s is not None:
            seconds = self._seconds(start_s, values)
            self._keep((seconds << BUCKET_BITS) | np.where(counted, bucket_of(values), NO_LATENCY))
            self._keep_marks(seconds, counted & ~answered, UNANSWERED)
            if failed is not None:
                self._keep_marks(seconds, failed, FAILED)

    @property
    def mean_us(self) -> float | None:
        """The exact mean; None without a latency."""
        return self.total_us / self.histogram.count if self.histogram.count else None

    def _add_latencies(self, values: Integers) -> None:
        if not len(values):
            return
        self.histogram.record(values)
        low, high = int(values.min()), int(values.max())
        self.total_us += int(values.sum())
        self.min_us = low if self.min_us is None else min(low, self.min_us)
        self.max_us = high if self.max_us is None else max(high, self.max_us)

    def _seconds(self, start_s: NDArray[Any], values: Integers) -> Integers:
        """The second in which each request ended, counted from the first chunk's first start."""
        first, end_s = float(start_s.min()), start_s + values / 1e6
        last = float(end_s.max())
        self.first_start_s = min(first, first if self.first_start_s is None else self.first_start_s)
        self.last_end_s = max(last, last if self.last_end_s is None else self.last_end_s)
        if self._origin_s is None:
            self._origin_s = first
        seconds: Integers = np.floor(end_s - self._origin_s).astype(np.int64)
        return seconds

    def _keep_marks(self, seconds: Integers, which: NDArray[np.bool_], mark: int) -> None:
        if which.any():
            self._keep((seconds[which] << BUCKET_BITS) | mark)

    def _keep(self, keys: Integers) -> None:
        unique, counts = np.unique(keys, return_counts=True)
        self._keys.append(unique)
        self._counts.append(counts)
        self._kept += len(unique)
        if self._kept > MOST_KEYS:
            self._compact()

    def _compact(self) -> None:
        keys, inverse = np.unique(np.concatenate(self._keys), return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, inverse, np.concatenate(self._counts))
        self._keys, self._counts, self._kept = [keys], [counts], 0

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
        edges = np.searchsorted(seconds, np.arange(first, last + 2))
        buckets = keys & ((1 << BUCKET_BITS) - 1)
        return tuple(
            _slice(second, buckets[begin:end], counts[begin:end])
            for second, (begin, end) in enumerate(pairwise(edges))
        )


def _slice(second: int, buckets: Integers, counts: Integers) -> TimeSlice:
    timed = buckets < UNANSWERED
    histogram = Histogram.from_counts(highest_us(buckets[timed]), counts[timed])
    return TimeSlice(
        start_s=float(second),
        length_s=1.0,
        completed=int(counts[timed].sum() - counts[buckets == UNANSWERED].sum()),
        failed=int(counts[buckets == FAILED].sum()),
        histogram=histogram.encode() if histogram.count else None,
    )
