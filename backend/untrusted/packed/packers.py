"""Packing a stream again as it was packed."""

import zlib
from typing import Protocol

import zstandard

from backend.untrusted.packed.decompress import GZIP_MAGIC


class Packer(Protocol):
    """What compresses a stream."""

    def compress(self, data: bytes, /) -> bytes: ...
    def flush(self) -> bytes: ...


def packer_like(beginning: bytes) -> Packer:
    """Packs as a file is packed that begins so: gzip or zstd."""
    if beginning.startswith(GZIP_MAGIC):
        return zlib.compressobj(wbits=31)
    return zstandard.ZstdCompressor().compressobj()
