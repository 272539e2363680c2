"""Rewriting a file without its secrets, as a stream. The child does this; it knows no Django.

Binary files pass as they are: masking bytes in them would break them. `archive_cleaning` rewrites
archives file by file.
"""

from __future__ import annotations

import codecs
import io
from collections import deque
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from backend.errors import Unprocessable
from backend.untrusted.archives.decompress import (
    GZIP_MAGIC,
    DecompressionRefused,
    UnpackingStopped,
    is_compressed,
    unpacked,
)
from backend.untrusted.archives.packings import HEAD_BYTES, Packer, packer_like, packing_of
from backend.untrusted.secrets.redaction import Redactor, Scan, blocks

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

REDACTOR = Redactor()
# Where no zero byte is in so much of the beginning, it is text.
BEGINNING_BYTES = 8192
READ_BYTES = 1 << 20
# The header of a gzip file: its flags, which say that a name follows, and its length.
GZIP_FLAGS_AT, GZIP_NAMED, GZIP_HEADER_BYTES = 3, b"\x08", 10
UTF16_ORDERS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


class CannotClean(Unprocessable):
    """A file that cannot be rewritten without its secrets."""


class TooLargeToClean(CannotClean):
    """Unpacking and searching the file goes beyond a limit, which the message names."""


def is_plain(beginning: bytes) -> bool:
    """Whether a file that begins so is looked through byte by byte, as it is."""
    return not packing_of(beginning) and beginning[:2] not in UTF16_ORDERS


def clean_bytes(data: bytes) -> bytes:
    """A plain file as a whole."""
    return data if b"\0" in data[:BEGINNING_BYTES] else REDACTOR.scan().end(data)


def holds_secret(file: BinaryIO, *, limit_bytes: int) -> bool:
    """Whether the file must be rewritten; a broken one is looked through as far as it goes."""
    if has_secret_in_gzip_name(file):
        return True
    scan = REDACTOR.scan()
    text = _text_of(file, limit_bytes)
    stream = io.BufferedReader(text, READ_BYTES)
    if is_binary(stream):
        # Nothing to search, but what unpacks beyond a limit is refused now, not when it is read.
        deque(blocks(stream) if text.is_unpacked else (), maxlen=0)
        return False
    for _ in without_secrets(stream, scan):
        if scan.masked:
            return True
    return scan.masked > 0


def has_secret_in_gzip_name(file: BinaryIO) -> bool:
    """Whether a gzip file gives a name with a secret for what is in it."""
    file.seek(0)
    beginning = file.read(BEGINNING_BYTES)
    flags = beginning[GZIP_FLAGS_AT : GZIP_FLAGS_AT + 1]
    if not beginning.startswith(GZIP_MAGIC) or flags != GZIP_NAMED:
        return False
    name = beginning[GZIP_HEADER_BYTES:].partition(b"\0")[0]
    return REDACTOR.scan().end(name) != name


def rewritten(file: BinaryIO, *, limit_bytes: int) -> Iterator[bytes]:
    """The file without its secrets, packed as it was. Raises CannotClean."""
    file.seek(0)
    beginning = file.read(len(GZIP_MAGIC))
    text = _text_of(file, limit_bytes)
    pieces = without_secrets(io.BufferedReader(text, READ_BYTES), REDACTOR.scan())
    if not text.is_unpacked:
        return pieces
    return _packed(pieces, text, packer_like(beginning))


def _packed(pieces: Iterable[bytes], text: _Text, packer: Packer) -> Iterator[bytes]:
    for piece in pieces:
        yield packer.compress(piece)
    if text.refused is not None:
        raise CannotClean(
            f"A compressed file contains a secret that cannot be removed: {text.refused}"
        )
    yield packer.flush()


def without_secrets(stream: io.BufferedReader[Any], scan: Scan) -> Iterator[bytes]:
    """The rest of a stream without secrets; a binary as it is."""
    if is_binary(stream):
        yield from blocks(stream)
    elif (order := UTF16_ORDERS.get(stream.peek(2)[:2])) is not None:
        yield from _rewritten_utf16(stream, order, scan)
    else:
        yield from map(scan.feed, blocks(stream))
        yield scan.end()


def is_binary(stream: io.BufferedReader[Any]) -> bool:
    """Whether the rest of a stream begins as no text does."""
    beginning = stream.peek(BEGINNING_BYTES)[:BEGINNING_BYTES]
    return b"\0" in beginning and beginning[:2] not in UTF16_ORDERS


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
        except UnpackingStopped:
            raise  # a secret may be in what was not read
        except DecompressionRefused as refused:
            self.refused, data = refused, b""
        target[: len(data)] = data
        return len(data)


def head_of(file: BinaryIO, *, limit_bytes: int) -> bytes:
    """The first bytes of the file, unpacked from gzip or zstd: enough for `packing_of`."""
    return io.BufferedReader(_text_of(file, limit_bytes), READ_BYTES).read(HEAD_BYTES)


def _text_of(file: BinaryIO, limit_bytes: int) -> _Text:
    file.seek(0)
    is_unpacked = is_compressed(file.read(4))
    file.seek(0)
    stream = unpacked(lambda: file, limit_bytes=limit_bytes) if is_unpacked else file
    return _Text(stream, is_unpacked=is_unpacked)
