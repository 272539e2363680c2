"""Packed files: small ones, and those that unpack to very much."""

import io
import zipfile
import zlib
from collections.abc import Mapping

import zstandard

PIECE_BYTES = 1 << 20


def gzip_of(piece: bytes, times: int = 1, *, head: bytes = b"") -> bytes:
    """A gzip file that unpacks to `head` and `times` times `piece`."""
    packer = zlib.compressobj(9, wbits=31)
    packed = [packer.compress(head), *(packer.compress(piece) for _ in range(times))]
    return b"".join([*packed, packer.flush()])


def gzip_of_zeros(size_bytes: int) -> bytes:
    """A gzip file that unpacks to `size_bytes` zeros."""
    return gzip_of(bytes(PIECE_BYTES), size_bytes // PIECE_BYTES)


def zstd_of(piece: bytes, times: int = 1) -> bytes:
    """A zstd file that unpacks to `times` times `piece`."""
    packed = io.BytesIO()
    with zstandard.ZstdCompressor().stream_writer(packed, closefd=False) as out:
        for _ in range(times):
            out.write(piece)
    return packed.getvalue()


def zstd_of_zeros(size_bytes: int) -> bytes:
    """A zstd file that unpacks to `size_bytes` zeros."""
    return zstd_of(bytes(PIECE_BYTES), size_bytes // PIECE_BYTES)


def zip_of(files: Mapping[str, str | bytes]) -> bytes:
    """A zip file with these files by name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in files.items():
            zipped.writestr(name, data)
    return packed.getvalue()
