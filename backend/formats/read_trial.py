"""A trial as it goes from the process that reads outputs to the one that records them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from backend.formats.model import Latency, ParsedTrial, TimeSlice
from backend.stats import Histogram
from backend.stats.histogram import stored_percentiles

# Of a time series as JSON. What is longer is kept without one.
MOST_TIMELINE_BYTES = 64 << 20
SLICES_AT_ONCE = 1000
# Made when this is imported, since two threads at the first use of a type end the process.
_PARTS = msgspec.json.Decoder(list[msgspec.Raw])
_SLICES = msgspec.json.Decoder(list[TimeSlice])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTrial:
    """What was read of a trial, with what is large in bytes."""

    # Without its histogram and its time series.
    parsed: ParsedTrial
    # The histogram, encoded, and its figures.
    histogram: bytes | None = None
    computed: Latency | None = None
    # The time series, packed: a day of seconds would hold 60 MB as objects.
    timeline: bytes | None = None

    @classmethod
    def of(cls, parsed: ParsedTrial) -> ReadTrial:
        """The trial with its histogram encoded and its time series packed; an empty histogram is
        none."""
        histogram, timeline = parsed.histogram, pack_slices(parsed.timeline)
        bare = replace(parsed, histogram=None, timeline=())
        if histogram is None or not histogram.count:
            return cls(parsed=bare, timeline=timeline)
        return cls(
            parsed=bare,
            histogram=histogram.encode(),
            computed=latency_of(histogram),
            timeline=timeline,
        )


def latency_of(histogram: Histogram) -> Latency:
    """The latency that a histogram counts, with the stored percentiles."""
    percentiles = stored_percentiles(histogram)
    return Latency(
        mean_us=histogram.mean_us,
        min_us=histogram.min_us,
        max_us=histogram.max_us,
        percentiles={key: us for key, us in percentiles.items() if us is not None},
    )


def pack_slices(slices: Sequence[TimeSlice]) -> bytes | None:
    """zlib over the JSON list of slices; a histogram is compressed HdrHistogram in base64. None
    where there are none, or too many."""
    text = msgspec.json.encode(slices) if slices else b""
    return zlib.compress(text) if 0 < len(text) <= MOST_TIMELINE_BYTES else None


def slices_in(packed: bytes | memoryview | None) -> Sequence[TimeSlice]:
    """The slices again; none of None."""
    return () if packed is None else read_slices(unpack_slices(packed))


def unpack_slices(packed: bytes | memoryview) -> bytes:
    """The JSON list of slices; an empty one where it is longer than MOST_TIMELINE_BYTES."""
    text = zlib.decompressobj().decompress(packed, MOST_TIMELINE_BYTES + 1)
    return text if len(text) <= MOST_TIMELINE_BYTES else b"[]"


def read_slices(text: bytes) -> Sequence[TimeSlice]:
    """The slices of a JSON list, decoded few at a time: no other thread runs meanwhile."""
    parts, slices = _PARTS.decode(text), list[TimeSlice]()
    for start in range(0, len(parts), SLICES_AT_ONCE):
        some = b",".join(parts[start : start + SLICES_AT_ONCE])
        slices += _SLICES.decode(b"[" + some + b"]")
    return slices
