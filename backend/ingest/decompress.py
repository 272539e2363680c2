"""Bounded decompression of artefacts, told by their first bytes.

Output is counted while it streams: above `FREE_BYTES` no more than `MAX_RATIO` times the input,
never more than the limit. Members and frames count together; a second layer is refused.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import zstandard

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
STEP_BYTES = 1 << 20
FREE_BYTES = 64 << 20
MAX_RATIO = 100
MAX_WINDOW_BYTES = 8 << 20


class DecompressionRefused(ValueError):
    """The compressed file is broken, too large when unpacked, or packed twice."""


def is_compressed(data: bytes) -> bool:
    return data.startswith((GZIP_MAGIC, ZSTD_MAGIC))


def decompressed(data: bytes, *, limit_bytes: int) -> bytes:
    """`data` unpacked if it is gzip or zstd, else as it is; raises DecompressionRefused."""
    if len(data) > limit_bytes:
        raise DecompressionRefused(f"The file has {len(data)} bytes, more than {limit_bytes}.")
    if not is_compressed(data):
        return data
    pieces = _gzip(data) if data.startswith(GZIP_MAGIC) else _zstd(data)
    out = bytearray()
    try:
        for piece in pieces:
            out += piece
            _check_growth(len(data), len(out), limit_bytes)
    except (zlib.error, zstandard.ZstdError) as broken:
        raise DecompressionRefused(f"The compressed file is broken: {broken}.") from None
    if is_compressed(bytes(out[:4])):
        raise DecompressionRefused("The file is compressed twice; send it compressed once.")
    return bytes(out)


def _check_growth(packed: int, unpacked: int, limit_bytes: int) -> None:
    if unpacked > limit_bytes:
        raise DecompressionRefused(
            f"The file unpacks to more than {limit_bytes} bytes, the limit for one upload."
        )
    if unpacked > FREE_BYTES and unpacked > packed * MAX_RATIO:
        raise DecompressionRefused(
            f"The file unpacks to more than {MAX_RATIO} times its size; that is no load tool's "
            "output. Send it uncompressed if it is."
        )


def _gzip(data: bytes) -> Iterator[bytes]:
    while data:
        member = zlib.decompressobj(wbits=31)
        yield member.decompress(data, STEP_BYTES)
        while not member.eof:
            tail = member.unconsumed_tail
            piece = member.decompress(tail, STEP_BYTES) if tail else member.flush(STEP_BYTES)
            if not piece and not member.eof:
                raise DecompressionRefused("The gzip file is cut off before its end.")
            yield piece
        data = member.unused_data


def _zstd(data: bytes) -> Iterator[bytes]:
    unpacker = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES)
    with unpacker.stream_reader(data, read_across_frames=True) as reader:
        while piece := reader.read(STEP_BYTES):
            yield piece
