"""The files of an upload as they are sent: most in one request, large ones before it in parts.

A request that is cut off has to be sent again, so none carries much: 8 MiB of files, and of a large
artefact at most a hundredth, so that ten cuts cost no more than a tenth of it. No part is larger
than 1 MiB, so that a cut every few seconds costs little on a slow line too.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

REQUEST_BYTES = 8 << 20
# On a slow line that is cut every few seconds, half a part is sent again after each cut.
LARGE_PART_BYTES = 1 << 20
SMALLEST_PART_BYTES = 256 << 10
PARTS = 100
MOST_PARTS = 10_000  # what the service takes

GZIP_FROM_BYTES = 1024
# gzip, zstd, zip: the service refuses a second layer.
COMPRESSED_STARTS = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04")
IN_MEMORY_UP_TO_BYTES = 4 << 20
COPY_BYTES = 1 << 20
OCTETS = "application/octet-stream"


@dataclass(frozen=True)
class Part:
    """`artefact_sha256` is of the whole artefact as sent; numbers begin at 0."""

    artefact_sha256: str
    number: int
    content: bytes


@dataclass(frozen=True)
class PackedFile:
    """A file as it is sent: gzipped where that pays, the same bytes on every try."""

    name: str
    content: IO[bytes]
    size_bytes: int

    @cached_property
    def sha256(self) -> str:
        """Of the bytes as sent, in hexadecimal."""
        digest = hashlib.sha256()
        self.content.seek(0)
        while chunk := self.content.read(COPY_BYTES):
            digest.update(chunk)
        return digest.hexdigest()

    @property
    def part_bytes(self) -> int:
        """Size of every part but the last."""
        share = -(-self.size_bytes // PARTS)
        usual = min(LARGE_PART_BYTES, max(SMALLEST_PART_BYTES, share))
        return max(usual, -(-self.size_bytes // MOST_PARTS))

    @property
    def part_count(self) -> int:
        return -(-self.size_bytes // self.part_bytes)

    def part(self, number: int) -> Part:
        self.content.seek(number * self.part_bytes)
        return Part(self.sha256, number, self.content.read(self.part_bytes))

    def declaration(self) -> dict[str, object]:
        """How the upload refers to the file after its parts were sent."""
        return {
            "name": self.name,
            "sha256": self.sha256,
            "size_bytes": self.size_bytes,
            "parts": self.part_count,
        }


@dataclass(frozen=True)
class PackedFiles:
    """`small` go into the upload's own request, `large` go before it in parts."""

    small: list[PackedFile]
    large: list[PackedFile]

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in (*self.small, *self.large))

    def form_files(self) -> list[tuple[str, tuple[str, IO[bytes], str]]]:
        """The small files as parts of a multipart form."""
        for file in self.small:
            file.content.seek(0)
        return [("file", (file.name, file.content, OCTETS)) for file in self.small]

    def missing_parts(self, stored: set[tuple[str, int]]) -> Iterator[Part]:
        """The parts the service lacks; `stored`: SHA-256 of the artefact, and number."""
        for file in self.large:
            for number in range(file.part_count):
                if (file.sha256, number) not in stored:
                    yield file.part(number)


def pack(stack: ExitStack, paths: Iterable[Path]) -> PackedFiles:
    """The files as they are sent, open until `stack` ends; the largest go in parts."""
    files = [_pack_file(stack, path) for path in paths]
    small = {file.name for file in files}
    total = sum(file.size_bytes for file in files)
    for file in sorted(files, key=lambda each: -each.size_bytes):
        if total <= REQUEST_BYTES:
            break
        small.remove(file.name)
        total -= file.size_bytes
    return PackedFiles(
        [file for file in files if file.name in small],
        [file for file in files if file.name not in small],
    )


def _pack_file(stack: ExitStack, path: Path) -> PackedFile:
    size = path.stat().st_size
    source = stack.enter_context(path.open("rb"))
    is_compressed = source.read(4).startswith(COMPRESSED_STARTS)
    source.seek(0)
    if size < GZIP_FROM_BYTES or is_compressed:
        return PackedFile(path.name, source, size)
    is_small = size <= IN_MEMORY_UP_TO_BYTES
    content: IO[bytes] = io.BytesIO() if is_small else tempfile.TemporaryFile()  # noqa: SIM115
    stack.enter_context(content)
    with gzip.GzipFile(filename="", fileobj=content, mode="wb", mtime=0) as packed:
        shutil.copyfileobj(source, packed)
    content.flush()  # httpx asks the file system for the length
    source.close()
    return PackedFile(path.name, content, content.tell())
