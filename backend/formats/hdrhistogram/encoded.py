"""A compressed histogram as HdrHistogram's log writers put it in a row (encodings V1 and V2)."""

import base64
import struct
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

V2, V1 = 0x1C849303, 0x1C849301
V2_COMPRESSED, V1_COMPRESSED = 0x1C849304, 0x1C849302
# Cookie, payload bytes, index offset, digits, lowest, highest, conversion ratio: big-endian.
HEADER = struct.Struct(">IIIIQQd")
# Far more than the counts of a histogram of 5 digits over hours; what unpacks to more is a bomb.
MOST_BYTES = 4 << 20

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The highest value of each used position, in the log's unit, and the counts."""

    values: Integers
    counts: Integers

    @property
    def total(self) -> int:
        return int(self.counts.sum())


def decode(text: str) -> Recorded:
    """The histogram of a row's last cell; raises ValueError for one that is damaged or cut off."""
    data = base64.b64decode(text, validate=True)
    if len(data) < 8:
        raise ValueError("too short")
    cookie, length = struct.unpack(">II", data[:8])
    if _base(cookie) not in (V2_COMPRESSED, V1_COMPRESSED) or length != len(data) - 8:
        raise ValueError("no compressed histogram of version 1 or 2, or not all of it")
    payload = _unpacked(data[8:])
    if len(payload) < HEADER.size:
        raise ValueError("no header")
    cookie, size, offset, digits, lowest, highest, _ = HEADER.unpack_from(payload)
    counted = payload[HEADER.size :]
    if offset or size != len(counted) or not 0 <= digits <= 5 or not 1 <= lowest <= highest:
        raise ValueError("an impossible header")
    positions, counts = _counts(cookie, counted)
    return Recorded(_highest(positions, digits, lowest), counts)


def _base(cookie: int) -> int:
    return cookie & ~0xF0


def _unpacked(data: bytes) -> bytes:
    stream = zlib.decompressobj()
    try:
        payload = stream.decompress(data, MOST_BYTES)
    except zlib.error as wrong:
        raise ValueError(str(wrong)) from None
    if not stream.eof or stream.unused_data:
        raise ValueError(f"does not unpack to a whole histogram of at most {MOST_BYTES:,} bytes")
    return payload


def _counts(cookie: int, data: bytes) -> tuple[Integers, Integers]:
    """The positions in use and their counts."""
    if _base(cookie) == V2:
        return _runs(_zigzag(data))
    word = (cookie & 0xF0) >> 4 & 0xE
    if _base(cookie) != V1 or word not in (2, 4, 8) or len(data) % word:
        raise ValueError("counts in no known form")
    counts = np.frombuffer(data, dtype=f">i{word}").astype(np.int64)
    if (counts < 0).any():
        raise ValueError("a negative count")
    used = np.flatnonzero(counts)
    return used, counts[used]


def _zigzag(data: bytes) -> Integers:
    """The numbers of ZigZag LEB128 bytes."""
    raw = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(raw < 0x80)
    if not len(raw):
        return np.zeros(0, dtype=np.int64)
    if not len(ends) or ends[-1] != len(raw) - 1:
        raise ValueError("a count without its end")
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts + 1
    if lengths.max() > 8:
        raise ValueError("an impossibly large count")
    place = np.arange(len(raw)) - np.repeat(starts, lengths)
    words = np.add.reduceat((raw & 0x7F).astype(np.int64) << (7 * place), starts)
    return (words >> 1) ^ -(words & 1)


def _runs(words: Integers) -> tuple[Integers, Integers]:
    """Positions and counts; a negative number stands for so many positions with none."""
    steps = np.where(words < 0, -words, 1)
    if len(steps) and steps.max() > 1 << 40:
        raise ValueError("positions beyond all possible values")
    positions = np.cumsum(steps) - steps
    used = words > 0
    return positions[used], words[used]


def _highest(positions: Integers, digits: int, lowest: int) -> Integers:
    """The highest value counted at each position."""
    magnitude = lowest.bit_length() - 1
    # As many sub-buckets as tell 2 × 10^digits apart, in whole bits; the lower half is used once.
    half_bits = max((2 * 10**digits - 1).bit_length(), 1) - 1
    buckets = np.maximum((positions >> half_bits) - 1, 0)
    if len(buckets) and int(buckets.max()) + magnitude + half_bits + 1 > 62:
        raise ValueError("a value beyond 62 bits")
    shifts = buckets + magnitude
    subs = positions - (buckets << half_bits)
    highest: Integers = ((subs + 1) << shifts) - 1
    return highest
