"""How files are packed, told by how they begin, and packing a stream again as it was."""

import zlib
from typing import Protocol

import zstandard

from backend.untrusted.archives.decompress import GZIP_MAGIC, ZSTD_MAGIC

ZIP_MAGIC = b"PK\x03\x04"
TAR_MAGIC, TAR_MAGIC_AT = b"ustar", 257
# How packed files begin.
PACKINGS = {
    "zip": ZIP_MAGIC,
    "gzip": GZIP_MAGIC,
    "zstd": ZSTD_MAGIC,
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\0",
    "7z": b"7z\xbc\xaf\x27\x1c",
    "rar": b"Rar!\x1a\x07",
}
BZIP2_BLOCK, BZIP2_BLOCK_AT = b"1AY&SY", 4
# So much of the beginning of a file says how it is packed.
HEAD_BYTES = TAR_MAGIC_AT + len(TAR_MAGIC)


def packing_of(head: bytes) -> str:
    """zip, tar, gzip, zstd, bzip2, xz, 7z or rar; empty for a file that is not packed."""
    if head[TAR_MAGIC_AT:].startswith(TAR_MAGIC):
        return "tar"
    for packing, magic in PACKINGS.items():
        if head.startswith(magic):
            is_text = packing == "bzip2" and not head.startswith(BZIP2_BLOCK, BZIP2_BLOCK_AT)
            return "" if is_text else packing
    return ""


class Packer(Protocol):
    """What compresses a stream."""

    def compress(self, data: bytes, /) -> bytes: ...
    def flush(self) -> bytes: ...


def packer_like(beginning: bytes) -> Packer:
    """Packs as a file is packed that begins so: gzip or zstd."""
    if beginning.startswith(GZIP_MAGIC):
        return zlib.compressobj(wbits=31)
    return zstandard.ZstdCompressor().compressobj()
