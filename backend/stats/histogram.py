"""The mergeable latency histogram: HdrHistogram of µs, 1 µs to 1 hour, 3 significant digits.

Counts are merged, percentiles never averaged (G. Tene, "How NOT to measure latency"). Of a
histogram are the percentiles that are computed from each, stored, and offered as metrics, and its
curve: the tail on an axis of "nines".

Points of a curve are evenly spaced on −log10(1 − p), where p90, p99 and p99.9 are one step of 1
apart (as HdrHistogram plots it), and stop where fewer than `LEAST_BEYOND` requests are slower: one
more would move the point.
"""

from __future__ import annotations

import struct
import threading
import zlib
from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any, Final

import numpy as np
import pyhdrh
from hdrh.codec import get_encoding_cookie
from numpy.typing import NDArray

LOWEST_US = 1
HIGHEST_US = 3_600_000_000
DIGITS = 3
# Values share a bucket of width 2^b when they need more than 11 bits: 2 × 10^3 rounded up to 2^11.
SUB_BUCKET_BITS = 11
HALF_BITS = SUB_BUCKET_BITS - 1
# Of a double (IEEE 754).
MANTISSA_BITS, DOUBLE_BIAS = 52, 1023

Counts = NDArray[np.int64]
LEAST_BEYOND = 10
# p50, then every tenth of a nine from 0.4 (p60.2) to 5 (p99.999).
PERCENTS: Final = (50.0, *(round(100 - 100 * 10 ** (-tenth / 10), 5) for tenth in range(4, 51)))

Curve = list[list[float]]
# Written as in the keys of figures.
STORED_PERCENTILES = ("50", "75", "90", "95", "99", "99.9")


class Histogram:
    """Latencies in µs as counts; a latency of 0 is below the tool's resolution."""

    def __init__(self) -> None:
        # The counts up to the last that is not 0: a tenth of the library's whole array, whose
        # clearing alone took longer than reading the bytes.
        self._counts: Counts = _NOTHING
        # How many latencies were recorded.
        self.count = 0
        # Latencies above one hour, counted at the highest value.
        self.clipped = 0

    @classmethod
    def from_samples(cls, samples_us: NDArray[Any]) -> Histogram:
        """The histogram of one latency (µs) per request."""
        histogram = cls()
        histogram.record(whole(samples_us))
        return histogram

    @classmethod
    def from_counts(cls, values_us: NDArray[Any], counts: NDArray[Any]) -> Histogram:
        """The histogram of `counts` requests at each of `values_us`."""
        histogram = cls()
        histogram._record(whole(values_us), np.asarray(counts, dtype=np.int64))
        return histogram

    @classmethod
    def from_buckets(cls, index: Counts, counts: Counts) -> Histogram:
        """The histogram of `counts` requests, at least 1, at each position of `bucket_of`.

        The positions rise.
        """
        histogram = cls()
        if len(index):
            histogram._counts = np.zeros(int(index[-1]) + 1, dtype=np.int64)
            histogram._counts[index] = counts
            histogram.count = int(counts.sum())
        return histogram

    def record(self, values_us: Counts) -> Counts:
        """Add one latency (whole µs) per request, and give the position of each (`bucket_of`).

        Raises ValueError for a negative latency.
        """
        index = bucket_of(values_us)
        if len(values_us):
            _refuse_negative(values_us)
            if values_us.max() > HIGHEST_US:
                self.clipped += int((values_us > HIGHEST_US).sum())
            self._add(np.bincount(index))
        return index

    def _record(self, values: Counts, counts: Counts) -> None:
        is_used = counts > 0
        values, counts = values[is_used], counts[is_used]
        if not len(values):
            return
        _refuse_negative(values)
        self.clipped += int(counts[values > HIGHEST_US].sum())
        index = bucket_of(values)
        added = np.zeros(int(index.max()) + 1, dtype=np.int64)
        np.add.at(added, index, counts)
        self._add(added)

    def _add(self, added: Counts) -> None:
        longer, shorter = sorted((added, self._counts), key=len, reverse=True)
        self._counts = longer.copy()
        self._counts[: len(shorter)] += shorter
        self.count += int(added.sum())

    def encode(self) -> bytes:
        """Compressed HdrHistogram V2 bytes, as every HdrHistogram library reads them."""
        return _compressed(_payload(self._counts)) if self.count else _EMPTY

    @classmethod
    def decode(cls, encoded: bytes) -> Histogram:
        """The histogram of bytes that `encode` gave; raises ValueError for others."""
        histogram = cls()
        if bytes(encoded) == _EMPTY:
            return histogram
        try:
            histogram._counts, histogram.count = _read(zlib.decompress(encoded))
        except Exception as error:
            raise ValueError(f"these {len(encoded)} bytes are no HdrHistogram: {error}") from error
        return histogram

    @classmethod
    def merge_all(cls, histograms: Iterable[Histogram]) -> Histogram:
        """The sum of counts; associative, commutative, count-preserving.

        One summand is in memory at a time: each has 8 bytes for every position up to its highest
        latency, 184 KB for an hour.
        """
        merged = cls()
        for histogram in histograms:
            missing = len(histogram._counts) - len(merged._counts)
            if missing > 0:
                merged._counts = np.pad(merged._counts, (0, missing))
            merged._counts[: len(histogram._counts)] += histogram._counts
            merged.count += histogram.count
            merged.clipped += histogram.clipped
        return merged

    @property
    def min_us(self) -> float | None:
        """The smallest latency, within the precision; None when empty."""
        return float(_lowest(np.flatnonzero(self._counts)[:1])[0]) if self.count else None

    @property
    def max_us(self) -> float | None:
        """The largest latency, within the precision; None when empty."""
        return float(_highest_at(len(self._counts) - 1)) if self.count else None

    @property
    def mean_us(self) -> float | None:
        """The mean of the buckets' middles; None when empty."""
        if not self.count:
            return None
        index = np.flatnonzero(self._counts)
        middles = (_lowest(index) + highest_us(index)) / 2
        return float((middles * self._counts[index]).sum() / self.count)

    def percentile(self, percent: float) -> float | None:
        """Nearest rank: the value of the bucket that holds request number ⌈percent·n/100⌉.

        In µs, the highest value of that bucket (at most 0.1 % above the request's own).
        """
        return self.percentiles([percent])[0]

    def percentiles(self, percents: Sequence[float]) -> list[float | None]:
        """`percentile` of each, with the counts summed once."""
        ranks = [self._rank(percent) for percent in percents]
        if not self.count:
            return [None] * len(ranks)
        positions = np.searchsorted(np.cumsum(self._counts), ranks)
        return [float(_highest_at(index)) for index in positions.tolist()]

    def _rank(self, percent: float) -> int:
        if not 0 <= percent <= 100:
            raise ValueError(f"percent is {percent}, expected 0 to 100")
        # Rounded first: 99.9 % of 1000 is request 999, not 1000 by a float's last bit.
        return max(1, ceil(round(percent * self.count / 100, 6)))


# The payload: cookie, length, normalising offset, digits, lowest, highest, conversion ratio; then
# the counts as ZigZag LEB128 words, a negative one standing for that many zeros.
_HEADER = struct.Struct(">IIIIQQd")
_WORD_BYTES = 9


def _payload(counts: Counts) -> bytes:
    """The HdrHistogram V2 payload: the bytes the library writes, in less time."""
    room = np.empty(len(counts) * _WORD_BYTES, dtype=np.uint8)
    length = pyhdrh.encode(
        counts.ctypes.data, len(counts), counts.itemsize, room.ctypes.data, len(room)
    )
    header = _HEADER.pack(get_encoding_cookie(), length, 0, DIGITS, LOWEST_US, HIGHEST_US, 1.0)
    return header + room[:length].tobytes()


def _compressed(payload: bytes) -> bytes:
    """Compressed in zlib's format, by run lengths only.

    A search for other repetitions takes three times as long and saves at most a tenth.
    """
    packer = zlib.compressobj(strategy=zlib.Z_RLE)
    return packer.compress(payload) + packer.flush()


def _read(payload: bytes) -> tuple[Counts, int]:
    """Counts and their sum, out of an HdrHistogram V2 payload of our own range and precision."""
    cookie, length, _, digits, lowest, highest, _ = _HEADER.unpack_from(payload)
    if (cookie, digits, lowest, highest) != (get_encoding_cookie(), DIGITS, LOWEST_US, HIGHEST_US):
        raise ValueError(f"it holds {lowest} to {highest} with {digits} digits (cookie {cookie:x})")
    if length != len(payload) - _HEADER.size:
        raise ValueError(f"it has {len(payload) - _HEADER.size} bytes of counts, not {length}")
    room = _room()
    try:
        read = pyhdrh.decode(payload, _HEADER.size, room.ctypes.data, len(room), room.itemsize)
    except Exception:
        room.fill(0)
        raise
    if not read["total"]:
        return _NOTHING, 0
    used = room[: read["max_nonzero_index"] + 1]
    counts = used.copy()
    used.fill(0)
    return counts, int(read["total"])


_rooms = threading.local()


def _room() -> Counts:
    """An array of zeros for all counts, one per thread; callers set it back to zeros."""
    if not hasattr(_rooms, "counts"):
        _rooms.counts = np.zeros(bucket_of(np.array([HIGHEST_US]))[0] + 1, dtype=np.int64)
    room: Counts = _rooms.counts
    return room


def _refuse_negative(values_us: Counts) -> None:
    if values_us.min() < 0:
        raise ValueError(f"a latency is {values_us.min()} µs, expected at least 0")


def whole(values: NDArray[Any]) -> Counts:
    """Values rounded to whole numbers; the same array where they are whole already."""
    if values.dtype.kind == "f":
        values = np.rint(values)
    rounded: Counts = values.astype(np.int64, copy=False)
    return rounded


def bucket_of(values_us: Counts) -> Counts:
    """The position of each value, at least 0, in HdrHistogram's counts array; above an hour, the
    last one.
    """
    values = np.minimum(values_us, HIGHEST_US)
    # A double holds a power of two, then the binary digits below it. The position is made of the
    # power and the first ten digits.
    index: Counts = values.astype(np.float64).view(np.int64)
    index >>= MANTISSA_BITS - HALF_BITS
    index -= DOUBLE_BIAS + HALF_BITS - 1 << HALF_BITS
    # The lowest values have a position each.
    np.copyto(index, values, where=values < 1 << HALF_BITS)
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


def _highest_at(index: int) -> int:
    """`highest_us` of one position."""
    bucket = max((index >> HALF_BITS) - 1, 0)
    return ((index - (bucket << HALF_BITS) + 1) << bucket) - 1


# The library's encoder has no form for a histogram without counts.
_EMPTY = b""
_NOTHING: Counts = np.zeros(0, dtype=np.int64)


def percentile_curve(histogram: Histogram) -> Curve:
    """[[percent, µs], …], at most 48, rising; each µs is `histogram.percentile` of its percent.

    Only percents with at least 10 slower requests, so a histogram below 20 requests has none.
    """
    count = histogram.count
    percents = [percent for percent in PERCENTS if _beyond(count, percent) >= LEAST_BEYOND]
    values = histogram.percentiles(percents)
    return [[percent, us] for percent, us in zip(percents, values, strict=True) if us is not None]


def _beyond(count: int, percent: float) -> float:
    # Rounded as the rank is: of 1000 requests, 10 are beyond p99.
    return round(count * (100 - percent) / 100, 6)


def stored_percentiles(histogram: Histogram) -> dict[str, float | None]:
    """{"50": …, "99.9": …} in µs; None if the histogram is empty."""
    values = histogram.percentiles([float(key) for key in STORED_PERCENTILES])
    return dict(zip(STORED_PERCENTILES, values, strict=True))
