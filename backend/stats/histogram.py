"""The mergeable latency histogram: HdrHistogram of µs, 1 µs to 1 hour, 3 significant digits.

Counts are merged, percentiles never averaged (G. Tene, "How NOT to measure latency").
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

LOWEST_US = 1
HIGHEST_US = 3_600_000_000
DIGITS = 3
# Values share a bucket of width 2^b when they need more than 11 bits: 2 × 10^3 rounded up to 2^11.
SUB_BUCKET_BITS = 11
HALF_BITS = SUB_BUCKET_BITS - 1

Counts = NDArray[np.int64]


class Histogram:
    """Latencies in µs as counts; 0 stands for below the resolution of what was measured."""

    def __init__(self) -> None:
        self._hdr: Any = HdrHistogram(LOWEST_US, HIGHEST_US, DIGITS, b64_wrap=False)
        # Latencies above one hour, counted at the highest value.
        self.clipped = 0

    @classmethod
    def from_samples(cls, samples_us: NDArray[Any]) -> Histogram:
        """The histogram of one latency (µs) per request."""
        histogram = cls()
        histogram.record(np.rint(samples_us).astype(np.int64))
        return histogram

    @classmethod
    def from_counts(cls, values_us: NDArray[Any], counts: NDArray[Any]) -> Histogram:
        """The histogram of `counts` requests at each of `values_us`."""
        histogram = cls()
        histogram._record(np.rint(values_us).astype(np.int64), np.asarray(counts, dtype=np.int64))
        return histogram

    def record(self, values_us: Counts) -> None:
        """Add one latency (whole µs) per request; raises ValueError for a negative one."""
        if len(values_us):
            self._add_to_range(values_us, int((values_us > HIGHEST_US).sum()), len(values_us))
            counts = self._counts()
            added = np.bincount(bucket_of(values_us), minlength=len(counts))
            counts += added.astype(counts.dtype)

    def _record(self, values: Counts, counts: Counts) -> None:
        kept = counts > 0
        values, counts = values[kept], counts[kept]
        if len(values):
            self._add_to_range(values, int(counts[values > HIGHEST_US].sum()), int(counts.sum()))
            np.add.at(self._counts(), bucket_of(values), counts)

    def _add_to_range(self, values: Counts, clipped: int, count: int) -> None:
        lowest, highest = int(values.min()), min(int(values.max()), HIGHEST_US)
        if lowest < 0:
            raise ValueError(f"a latency is {lowest} µs, expected at least 0")
        self.clipped += clipped
        self._hdr.total_count += count
        self._hdr.min_value = min(lowest, int(self._hdr.min_value))
        self._hdr.max_value = max(highest, int(self._hdr.max_value))

    def _counts(self) -> Counts:
        view: Counts = np.ctypeslib.as_array(self._hdr.counts)
        return view

    def encode(self) -> bytes:
        """Compressed HdrHistogram V2 bytes, as every HdrHistogram library reads them."""
        encoded: bytes = self._hdr.encoder.encode() if self.count else _EMPTY
        return encoded

    @classmethod
    def decode(cls, encoded: bytes) -> Histogram:
        """The histogram of bytes that `encode` gave; raises ValueError for others."""
        histogram = cls()
        if bytes(encoded) == _EMPTY:
            return histogram
        try:
            histogram._hdr = HdrHistogram.decode(bytes(encoded), b64_wrap=False)
        except Exception as error:
            raise ValueError(f"these {len(encoded)} bytes are no HdrHistogram: {error}") from error
        return histogram

    @classmethod
    def merge_all(cls, histograms: Iterable[Histogram]) -> Histogram:
        """The sum of counts; associative, commutative, count-preserving."""
        merged = cls()
        for histogram in histograms:
            if histogram.count:
                merged._hdr.add(histogram._hdr)
                merged.clipped += histogram.clipped
        return merged

    def merge(self, *others: Histogram) -> Histogram:
        """This histogram with `others`, as a new one."""
        return Histogram.merge_all([self, *others])

    @property
    def count(self) -> int:
        """How many latencies were recorded."""
        return int(self._hdr.total_count)

    @property
    def min_us(self) -> float | None:
        """The smallest latency, within the precision; None when empty."""
        return float(_lowest(np.flatnonzero(self._counts())[:1])[0]) if self.count else None

    @property
    def max_us(self) -> float | None:
        """The largest latency, within the precision; None when empty."""
        return float(highest_us(np.flatnonzero(self._counts())[-1:])[0]) if self.count else None

    @property
    def mean_us(self) -> float | None:
        """The mean of the buckets' middles; None when empty."""
        if not self.count:
            return None
        index = np.flatnonzero(self._counts())
        middles = (_lowest(index) + highest_us(index)) / 2
        return float((middles * self._counts()[index]).sum() / self.count)

    def percentile(self, percent: float) -> float | None:
        """Nearest rank: the value of the bucket that holds request number ⌈percent·n/100⌉.

        In µs, the highest value of that bucket (at most 0.1 % above the request's own).
        """
        if not 0 <= percent <= 100:
            raise ValueError(f"percent is {percent}, expected 0 to 100")
        if not self.count:
            return None
        # Rounded first: 99.9 % of 1000 is request 999, not 1000 by a float's last bit.
        rank = max(1, int(np.ceil(round(percent * self.count / 100, 6))))
        index = np.searchsorted(np.cumsum(self._counts()), rank)
        return float(highest_us(np.array([index]))[0])


def bucket_of(values_us: Counts) -> Counts:
    """The position of each value in HdrHistogram's counts array; above an hour, the last one."""
    values = np.minimum(values_us, HIGHEST_US)
    bits = np.frexp(np.maximum(values, 1).astype(np.float64))[1].astype(np.int64)
    bucket = np.maximum(bits - SUB_BUCKET_BITS, 0)
    index: Counts = (bucket << HALF_BITS) + (values >> bucket)
    return index


def _bucket(index: Counts) -> Counts:
    bucket: Counts = np.maximum((index >> HALF_BITS) - 1, 0)
    return bucket


def _lowest(index: Counts) -> Counts:
    """The lowest value that is counted at each position."""
    bucket = _bucket(index)
    lowest: Counts = (index - (bucket << HALF_BITS)) << bucket
    return lowest


def highest_us(index: Counts) -> Counts:
    """The highest value, in µs, that is counted at each position."""
    highest: Counts = _lowest(index) + (np.int64(1) << _bucket(index)) - 1
    return highest


# The library's encoder has no form for a histogram without counts.
_EMPTY = b""
