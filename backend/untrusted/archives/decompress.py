"""Bounded decompression of artefacts as a stream; their first bytes say the compression.

Output is counted while it streams: above `FREE_BYTES` no more than `MAX_RATIO` times the input,
never more than the limit. Members and frames count together, and there are at most `MAX_MEMBERS`
of them; a second layer is refused. Archives are refused in the same words, whichever their kind.
"""

import io
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

import zstandard

from backend.errors import InvalidInput
from backend.formats.streams import stream_of

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
STEP_BYTES = 1 << 20
FREE_BYTES = 64 << 20
MAX_RATIO = 100
MAX_WINDOW_BYTES = 8 << 20
MAX_MEMBERS = 10_000
GZIP_SLICE_BYTES = 16 << 10
# A slice of zstd may unpack to 32,000 times its size at once.
ZSTD_SLICE_BYTES = 512
# A results tree of hundreds of files is read as well as the files of one trial.
MAX_FILES = 1_000


class DecompressionRefused(InvalidInput):
    """The compressed file is broken, too large when unpacked, or packed twice."""


class UnpackingStopped(DecompressionRefused):
    """A limit was reached, or damage or a second layer found: what follows was not read."""


class BeyondLimit(UnpackingStopped):
    """More bytes, members or files than a limit allows; the message names the limit."""


class TooManyBytes(BeyondLimit):
    """More bytes than the limit that the caller gave."""


def unpacked(open_packed: Callable[[], BinaryIO], *, limit_bytes: int) -> BinaryIO:
    """The bytes of an artefact, unpacked if it is gzip or zstd, else as they are.

    Raises DecompressionRefused, here or while the stream is read, for what is broken, packed
    twice or larger than `limit_bytes`.
    """
    packed = open_packed()
    magic = packed.read(4)
    size = packed.seek(0, io.SEEK_END)
    packed.seek(0)
    if size > limit_bytes:
        raise TooManyBytes(f"The file has {size:,} bytes, more than {limit_bytes:,}.")
    if not is_compressed(magic):
        return packed
    pieces = _gzip(packed) if magic.startswith(GZIP_MAGIC) else _zstd(packed)
    return stream_of(_counted(pieces, size, limit_bytes))


def is_compressed(data: bytes) -> bool:
    return data.startswith((GZIP_MAGIC, ZSTD_MAGIC))


def _counted(pieces: Iterator[bytes], packed_size: int, limit_bytes: int) -> Iterator[bytes]:
    """The pieces, counted as they come."""
    count = 0
    try:
        for piece in pieces:
            if not count and is_compressed(piece[:4]):
                raise UnpackingStopped("The file is compressed twice. Compress it once.")
            count += len(piece)
            check_growth(packed_size, count, limit_bytes)
            yield piece
    except (zlib.error, zstandard.ZstdError) as broken:
        raise UnpackingStopped(f"The compressed file is broken: {broken}.") from None


def check_growth(packed: int, unpacked: int, limit_bytes: int) -> None:
    if unpacked > limit_bytes:
        raise TooManyBytes(
            f"The file of {packed:,} bytes unpacks to more than {limit_bytes:,} bytes, the limit "
            "for one upload. Send it as several files."
        )
    if unpacked > FREE_BYTES and unpacked > packed * MAX_RATIO:
        raise BeyondLimit(
            f"The file of {packed:,} bytes unpacks to {unpacked:,} bytes or more, expected at most "
            f"{MAX_RATIO} times its size. Send it uncompressed if it is the output of a load tool."
        )


def _gzip(packed: BinaryIO) -> Iterator[bytes]:
    source = _Source(packed, GZIP_SLICE_BYTES)
    for piece in source.starts():
        member = zlib.decompressobj(wbits=31)
        yield member.decompress(piece, STEP_BYTES)
        while not member.eof:
            rest = member.unconsumed_tail or source.read()
            if not rest:
                raise DecompressionRefused("The gzip file is cut off before its end.")
            yield member.decompress(rest, STEP_BYTES)
        source.give_back(len(member.unused_data))


def _zstd(packed: BinaryIO) -> Iterator[bytes]:
    source = _Source(packed, ZSTD_SLICE_BYTES)
    unpacker = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES)
    for piece in source.starts():
        frame = unpacker.decompressobj()
        yield frame.decompress(piece)
        while not frame.eof:
            rest = source.read()
            if not rest:
                raise DecompressionRefused("The zstd file is cut off before its end.")
            yield frame.decompress(rest)
        source.give_back(len(frame.unused_data))


class _Source:
    """Packed bytes in slices, so that little is copied where a member ends and the next begins."""

    def __init__(self, packed: BinaryIO, slice_bytes: int) -> None:
        self._packed, self._slice_bytes = packed, slice_bytes
        self._block, self._at = b"", 0

    def starts(self) -> Iterator[bytes]:
        """The first slice of each member or frame. Raises DecompressionRefused for too many."""
        members = 0
        while piece := self.read():
            members += 1
            if members > MAX_MEMBERS:
                raise BeyondLimit(
                    f"The file has more than {MAX_MEMBERS} compressed members. Send it "
                    "compressed as a whole."
                )
            yield piece

    def read(self) -> bytes:
        if self._at == len(self._block):
            self._block, self._at = self._packed.read(STEP_BYTES), 0
        piece = self._block[self._at : self._at + self._slice_bytes]
        self._at += len(piece)
        return piece

    def give_back(self, count: int) -> None:
        """Return the last bytes of the last slice: they belong to the next member or frame."""
        self._at -= count


def check_count(count: int, kind: str) -> None:
    """Raises BeyondLimit where the archive has too many files."""
    if count > MAX_FILES:
        raise BeyondLimit(
            f"The {kind} archive has more than {MAX_FILES} files. Upload the files of one trial, "
            "or one folder of results. A larger results tree of TechEmpower or HttpArena is "
            "uploaded by `loadsheet import`."
        )


def broken_archive(kind: str, why: object) -> DecompressionRefused:
    """The refusal of an archive that cannot be read."""
    return DecompressionRefused(f"The {kind} archive is broken: {why}.")
