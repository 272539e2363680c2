"""Secrets are taken out of an upload before anything of it is stored.

The agent does so before it sends; what curl or a browser sends had nobody to do it. The rules are
the agent's own (`redaction`), so what it cleaned passes unchanged, byte for byte.
"""

from __future__ import annotations

import hashlib
import io
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

import zstandard
from django.conf import settings

from backend.ingest.decompress import (
    GZIP_MAGIC,
    DecompressionRefused,
    is_compressed,
    unpacked,
)
from backend.ingest.redaction import Redactor, blocks
from backend.ingest.storage import CHUNK_BYTES

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

REDACTOR = Redactor()
# Where no zero byte is in so much of the beginning, it is text.
BEGINNING_BYTES = 8192


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

    Binary files pass as they are: masking bytes in them would break them. Compressed files are
    rewritten only where they hold a secret. Raises CannotClean.
    """
    file.seek(0)
    beginning = file.read(BEGINNING_BYTES)
    file.seek(0)
    if is_compressed(beginning):
        return _packed(file) if _holds_secret(file) else _as_it_is(file)
    if b"\0" in beginning:
        return _as_it_is(file)
    return map(REDACTOR.block, _in_time(blocks(file)))


def _in_time(pieces: Iterable[bytes]) -> Iterator[bytes]:
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


class _AsFarAsItGoes(io.RawIOBase):
    """The unpacked bytes; where the compressed file is broken it ends, and `refused` says why."""

    def __init__(self, file: IO[bytes]) -> None:
        self.refused: DecompressionRefused | None = None
        file.seek(0)
        # A seekable file of bytes; what it is called in types is more than it has to be.
        self._stream = cast(
            Any, unpacked(lambda: cast(BinaryIO, file), limit_bytes=settings.DECOMPRESSED_MAX_BYTES)
        )

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


def _holds_secret(file: IO[bytes]) -> bool:
    """Binary files are not looked through, packed ones neither."""
    text = io.BufferedReader(_AsFarAsItGoes(file), CHUNK_BYTES)
    if b"\0" in text.peek(BEGINNING_BYTES)[:BEGINNING_BYTES]:
        return False
    return any(REDACTOR.block(block) != block for block in _in_time(blocks(text)))


def _packed(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    is_gzip = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    packer = zlib.compressobj(wbits=31) if is_gzip else zstandard.ZstdCompressor().compressobj()
    stream = _AsFarAsItGoes(file)
    for block in _in_time(blocks(io.BufferedReader(stream, CHUNK_BYTES))):
        yield packer.compress(REDACTOR.block(block))
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
