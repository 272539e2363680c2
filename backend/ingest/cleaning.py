"""Secrets are taken out of an upload before anything of it is stored.

The agent does so before it sends; what curl or a browser sends had nobody to do it. The rules are
the agent's own (`redaction`), so what it cleaned passes unchanged, byte for byte.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

import zstandard
from django.conf import settings

from backend.ingest.decompress import (
    GZIP_MAGIC,
    DecompressionRefused,
    is_compressed,
    unpacked,
)
from backend.ingest.redaction import BLOCK_BYTES, LONGEST_LINE_BYTES, Redactor, blocks
from backend.ingest.storage import CHUNK_BYTES

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

REDACTOR = Redactor()
# Where no zero byte is in so much of the beginning, it is text.
BEGINNING_BYTES = 8192
UTF16_ORDERS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
Piece = TypeVar("Piece", bytes, str)


class CannotClean(Exception):
    """A file that cannot be rewritten without its secrets, or not in a bearable time."""


def clean_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """JSON without secrets."""
    found: dict[str, Any] = REDACTOR.value(fields)
    return found


def clean_envelope(envelope: Mapping[str, Any]) -> dict[str, Any]:
    """The envelope without secrets; the plan's hash stays that of the plan that is kept."""
    cleaned = clean_fields(envelope)
    run, before = cleaned.get("run") or {}, envelope.get("run") or {}
    if run.get("plan") != before.get("plan"):
        run["plan_sha256"] = hashlib.sha256(run["plan"].encode()).hexdigest()
    return cleaned


def clean_name(name: str) -> str:
    return REDACTOR.text(name)


def cleaned(file: IO[bytes]) -> Iterator[bytes]:
    """The file's bytes without secrets, as a stream; what holds none passes byte for byte.

    Binary files pass as they are: masking bytes in them would break them. Raises CannotClean.
    """
    file.seek(0)
    beginning = file.read(BEGINNING_BYTES)
    file.seek(0)
    if is_compressed(beginning):
        return _packed(file) if _holds_secret(_unpacked(file)) else _as_it_is(file)
    if beginning[:2] in UTF16_ORDERS:
        # Read twice, for what is no true UTF-16 would come out changed without need.
        return _rewritten(file) if _holds_secret(_AsFarAsItGoes(file)) else _as_it_is(file)
    if b"\0" in beginning:
        return _as_it_is(file)
    return map(REDACTOR.block, _in_time(blocks(file)))


def _in_time(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """A request may not compute for as long as a hostile file likes."""
    until = time.thread_time() + settings.PARSE_CPU_S
    for piece in pieces:
        if time.thread_time() > until:
            raise CannotClean(
                f"To look for secrets in a file took longer than {settings.PARSE_CPU_S} s."
            )
        yield piece


def _as_it_is(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    return iter(lambda: file.read(CHUNK_BYTES), b"")


def _holds_secret(source: _AsFarAsItGoes) -> bool:
    return any(is_changed for _, is_changed in _pieces(source))


def _rewritten(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    return (piece for piece, _ in _pieces(_AsFarAsItGoes(file)))


def _pieces(source: _AsFarAsItGoes) -> Iterator[tuple[bytes, bool]]:
    """The text without secrets, and whether one was taken out of the piece; none of a binary."""
    stream = io.BufferedReader(source, CHUNK_BYTES)
    beginning = stream.peek(BEGINNING_BYTES)[:BEGINNING_BYTES]
    if (order := UTF16_ORDERS.get(beginning[:2])) is not None:
        for text in _in_time(_utf16_pieces(stream, order)):
            kept = REDACTOR.text(text)
            yield kept.encode(order, "replace"), kept != text
    elif b"\0" not in beginning:
        for block in _in_time(blocks(stream)):
            yield (clean := REDACTOR.block(block)), clean != block


def _utf16_pieces(stream: IO[bytes], order: str) -> Iterator[str]:
    """Whole lines, like `blocks`."""
    reader = codecs.getreader(order)(stream, "replace")
    held = ""
    while text := reader.read(BLOCK_BYTES, BLOCK_BYTES):
        held += text
        end = len(held) if len(held) > LONGEST_LINE_BYTES else held.rfind("\n") + 1
        if end:
            yield held[:end]
            held = held[end:]
    if held:
        yield held


class _AsFarAsItGoes(io.RawIOBase):
    """A stream's bytes, as far as they come; `refused` says why not all. It is left open."""

    def __init__(self, stream: Any) -> None:
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


def _unpacked(file: IO[bytes]) -> _AsFarAsItGoes:
    file.seek(0)
    limit_bytes = settings.DECOMPRESSED_MAX_BYTES
    return _AsFarAsItGoes(unpacked(lambda: cast(BinaryIO, file), limit_bytes=limit_bytes))


def _packed(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    is_gzip = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    packer = zlib.compressobj(wbits=31) if is_gzip else zstandard.ZstdCompressor().compressobj()
    stream = _unpacked(file)
    for piece, _ in _pieces(stream):
        yield packer.compress(piece)
    if stream.refused is not None:
        raise CannotClean(
            f"A compressed file holds a secret and cannot be rewritten without it: {stream.refused}"
        )
    yield packer.flush()


def hash_of(chunks: Iterable[bytes]) -> str:
    """SHA-256 in hex."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()
