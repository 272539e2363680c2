"""Rewriting a file without its secrets, as a stream. The child does this; it knows no Django.

Binary files pass as they are: masking bytes in them would break them.
"""

from __future__ import annotations

import codecs
import io
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import zstandard

from backend.errors import Unprocessable
from backend.ingest.decompress import GZIP_MAGIC, DecompressionRefused, is_compressed, unpacked
from backend.ingest.redaction import Redactor, Scan, blocks

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

REDACTOR = Redactor()
# Where no zero byte is in so much of the beginning, it is text.
BEGINNING_BYTES = 8192
READ_BYTES = 1 << 20
UTF16_ORDERS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


class CannotClean(Unprocessable):
    """A file that cannot be rewritten without its secrets, or not in a bearable time."""


def is_plain(beginning: bytes) -> bool:
    """Whether a file that begins so is looked through byte by byte, as it is."""
    return not is_compressed(beginning) and beginning[:2] not in UTF16_ORDERS


def clean_bytes(data: bytes) -> bytes:
    """A plain file as a whole."""
    return data if b"\0" in data[:BEGINNING_BYTES] else REDACTOR.scan().end(data)


def holds_secret(file: BinaryIO, *, limit_bytes: int) -> bool:
    """Whether the file must be rewritten; a broken one is looked through as far as it goes."""
    scan = REDACTOR.scan()
    for _ in _rewritten_text(_text_of(file, limit_bytes), scan):
        if scan.masked:
            return True
    return scan.masked > 0


def rewritten(file: BinaryIO, *, limit_bytes: int) -> Iterator[bytes]:
    """The file without its secrets, packed as it was. Raises CannotClean."""
    file.seek(0)
    beginning = file.read(len(GZIP_MAGIC))
    text = _text_of(file, limit_bytes)
    pieces = _rewritten_text(text, REDACTOR.scan())
    if not text.is_unpacked:
        return pieces
    return _packed(pieces, text, is_gzip=beginning == GZIP_MAGIC)


def _packed(pieces: Iterable[bytes], text: _Text, *, is_gzip: bool) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=31) if is_gzip else zstandard.ZstdCompressor().compressobj()
    for piece in pieces:
        yield packer.compress(piece)
    if text.refused is not None:
        raise CannotClean(
            f"A compressed file contains a secret that cannot be removed: {text.refused}"
        )
    yield packer.flush()


def _rewritten_text(text: _Text, scan: Scan) -> Iterator[bytes]:
    """The text without secrets; nothing of a binary."""
    stream = io.BufferedReader(text, READ_BYTES)
    beginning = stream.peek(BEGINNING_BYTES)[:BEGINNING_BYTES]
    if (order := UTF16_ORDERS.get(beginning[:2])) is not None:
        yield from _rewritten_utf16(stream, order, scan)
    elif b"\0" not in beginning:
        yield from map(scan.feed, blocks(stream))
        yield scan.end()


def _rewritten_utf16(stream: IO[bytes], order: str, scan: Scan) -> Iterator[bytes]:
    # UTF-8 in between: the scan looks for ASCII, and may cut a letter in two.
    reader = codecs.getincrementaldecoder(order)("replace")
    back = codecs.getincrementaldecoder("utf-8")("replace")
    for block in blocks(stream):
        cleaned = scan.feed(reader.decode(block).encode())
        yield back.decode(cleaned).encode(order)
    cleaned = scan.end(reader.decode(b"", final=True).encode())
    yield back.decode(cleaned, final=True).encode(order)


class _Text(io.RawIOBase):
    """A file's bytes, unpacked, as far as they come; `refused` says why not all."""

    def __init__(self, stream: Any, *, is_unpacked: bool) -> None:
        self.is_unpacked = is_unpacked
        self.refused: DecompressionRefused | None = None
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        target = memoryview(buffer).cast("B")
        try:
            data = self._stream.read1(len(target))
        except DecompressionRefused as refused:
            self.refused, data = refused, b""
        target[: len(data)] = data
        return len(data)


def _text_of(file: BinaryIO, limit_bytes: int) -> _Text:
    file.seek(0)
    is_unpacked = is_compressed(file.read(4))
    file.seek(0)
    if not is_unpacked:
        return _Text(file, is_unpacked=False)
    stream = unpacked(lambda: file, limit_bytes=limit_bytes)
    return _Text(stream, is_unpacked=True)
