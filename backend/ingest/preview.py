"""The beginning of an artefact as text to read on a page."""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass
from typing import BinaryIO

import zstandard

from backend.ingest.decompress import GZIP_MAGIC, MAX_WINDOW_BYTES, ZSTD_MAGIC
from backend.ingest.storage import open_artefact

PREVIEW_BYTES = 256 << 10
# Colour codes of terminals, and control characters that are no white space.
_ESCAPES = re.compile(r"\x1b\[[0-?]{0,20}[ -/]{0,5}[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Preview:
    """What can be read of an artefact; `text` is empty when it is no text."""

    text: str
    truncated: bool


def preview(sha256: str, *, limit_bytes: int = PREVIEW_BYTES) -> Preview:
    """At most `limit_bytes` of the artefact, unpacked. Raises FileNotFoundError."""
    with open_artefact(sha256) as packed:
        magic = packed.read(4)
    with open_artefact(sha256) as stored:
        try:
            data = _unpacked(stored, magic).read(limit_bytes + 1)
        except (OSError, EOFError, zlib.error, zstandard.ZstdError):
            return Preview("", truncated=True)
    truncated = len(data) > limit_bytes
    if b"\0" in data[:1024]:
        return Preview("", truncated=truncated)
    text = data[:limit_bytes].decode("utf-8", errors="replace")
    return Preview(_ESCAPES.sub("", text), truncated=truncated)


def _unpacked(stored: BinaryIO, magic: bytes) -> BinaryIO | gzip.GzipFile:
    if magic.startswith(GZIP_MAGIC):
        return gzip.GzipFile(fileobj=stored)
    if magic.startswith(ZSTD_MAGIC):
        unpacker = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES)
        return unpacker.stream_reader(stored)
    return stored
