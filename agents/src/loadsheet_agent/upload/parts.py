"""What is sent of an entry: most files in one request, large ones before it in numbered parts.

A request that is cut off has to be sent anew, so none carries much: 8 MiB of files, and of a large
artefact at most a hundredth, so that ten cuts cost no more than a tenth of it.
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
LARGEST_PART_BYTES = 8 << 20  # what the service takes
SMALLEST_PART_BYTES = 256 << 10
PARTS = 100

GZIP_FROM_BYTES = 1024
COMPRESSED_STARTS = (
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
)  # gzip, zstd: the service refuses a second layer
IN_MEMORY_UP_TO_BYTES = 4 << 20
COPY_BYTES = 1 << 20


@dataclass(frozen=True)
class Part:
    artefact_sha256: str
    number: int
    content: bytes


@dataclass(frozen=True)
class Parcel:
    """A file as it is sent: gzipped where that pays, the same bytes on every try."""

    name: str
    content: IO[bytes]
    size_bytes: int

    @cached_property
    def sha256(self) -> str:
        digest = hashlib.sha256()
        self.content.seek(0)
        while chunk := self.content.read(COPY_BYTES):
            digest.update(chunk)
        return digest.hexdigest()

    @property
    def part_bytes(self) -> int:
        share = -(-self.size_bytes // PARTS)
        return min(LARGEST_PART_BYTES, max(SMALLEST_PART_BYTES, share))

    @property
    def part_count(self) -> int:
        return -(-self.size_bytes // self.part_bytes)

    def part(self, number: int) -> Part:
        self.content.seek(number * self.part_bytes)
        return Part(self.sha256, number, self.content.read(self.part_bytes))

    def named(self) -> dict[str, object]:
        """How the upload names it, once its parts are there."""
        return {
            "name": self.name,
            "sha256": self.sha256,
            "size_bytes": self.size_bytes,
            "parts": self.part_count,
        }


@dataclass(frozen=True)
class Parcels:
    """`small` go into the upload's own request, `large` go before it in parts."""

    small: list[Parcel]
    large: list[Parcel]

    def files(self) -> list[tuple[str, tuple[str, IO[bytes], str]]]:
        for parcel in self.small:
            parcel.content.seek(0)
        kind = "application/octet-stream"
        return [("file", (parcel.name, parcel.content, kind)) for parcel in self.small]

    def missing(self, there: set[tuple[str, int]]) -> Iterator[Part]:
        """The parts the service does not have; `there`: hash of the artefact, and number."""
        for parcel in self.large:
            for number in range(parcel.part_count):
                if (parcel.sha256, number) not in there:
                    yield parcel.part(number)


def pack(stack: ExitStack, paths: Iterable[Path]) -> Parcels:
    """The files as they are sent, open until `stack` ends; the largest go in parts."""
    parcels = [_parcel(stack, path) for path in paths]
    small = {parcel.name for parcel in parcels}
    total = sum(parcel.size_bytes for parcel in parcels)
    for parcel in sorted(parcels, key=lambda each: -each.size_bytes):
        if total <= REQUEST_BYTES:
            break
        small.remove(parcel.name)
        total -= parcel.size_bytes
    return Parcels(
        [parcel for parcel in parcels if parcel.name in small],
        [parcel for parcel in parcels if parcel.name not in small],
    )


def _parcel(stack: ExitStack, path: Path) -> Parcel:
    size = path.stat().st_size
    source = stack.enter_context(path.open("rb"))
    packed_before = source.read(4).startswith(COMPRESSED_STARTS)
    source.seek(0)
    if size < GZIP_FROM_BYTES or packed_before:
        return Parcel(path.name, source, size)
    in_memory = size <= IN_MEMORY_UP_TO_BYTES
    content: IO[bytes] = io.BytesIO() if in_memory else tempfile.TemporaryFile()  # noqa: SIM115
    stack.enter_context(content)
    with gzip.GzipFile(filename="", fileobj=content, mode="wb", mtime=0) as packed:
        shutil.copyfileobj(source, packed)
    content.flush()  # httpx asks the file system for the length
    source.close()
    return Parcel(path.name, content, content.tell())
