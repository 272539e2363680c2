"""What every storage does, what it says of what it has, and its errors, for disks and S3 alike."""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol

from backend.errors import Away

CHUNK_BYTES = 1 << 20
IS_SHA256 = re.compile(r"[0-9a-f]{64}").fullmatch
FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Stored:
    """What was stored: SHA-256 in hex and the size in bytes.

    `inode` is the file's where this made it; 0 where the bytes were there before.
    """

    sha256: str
    size_bytes: int
    inode: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Listed:
    """Something in the storage: its name, size in bytes and when it was written (Unix time, s)."""

    name: str
    size_bytes: int
    written_at_s: float


class Storage(Protocol):
    def put(self, chunks: Iterable[bytes], meanwhile: Callable[[], None] = lambda: None) -> Stored:
        """Store durably: when this returns the bytes survive a power cut. Raises StorageAway.

        `meanwhile` is called again and again while the bytes are sent after the last chunk was
        taken; what it raises ends the sending.
        """

    def take_back(self, stored: Stored) -> None:
        """Remove what `put` just made, unless the same bytes were put again meanwhile."""

    def open(self, sha256: str) -> BinaryIO:
        """The stored bytes; raises FileNotFoundError and StorageAway."""

    def local_path(self, sha256: str) -> contextlib.AbstractContextManager[Path]:
        """A local file with the bytes, for the parser's child process; raises as `open` does."""

    def has(self, sha256: str) -> bool:
        """Whether the bytes are there. Raises StorageAway."""

    def has_all(self, sha256s: Collection[str]) -> bool:
        """Whether the bytes of all are there. Raises StorageAway."""

    def list(self) -> Iterator[Listed]:
        """The stored artefacts, named by their SHA-256, in any order. Raises StorageAway."""

    def remove(self, sha256: str) -> None:
        """Remove the bytes, if they are there. Raises StorageAway.

        Only for the collector, which holds the lock that makes it safe.
        """

    def put_part(self, name: str, chunks: Iterable[bytes]) -> Stored:
        """As `put`, under the name of one part. No other upload shares it, so it can be removed."""

    def open_part(self, name: str) -> BinaryIO:
        """Raises as `open` does."""

    def list_parts(self) -> Iterator[Listed]:
        """The parts, by the names they were put under."""

    def remove_part(self, name: str) -> None:
        """Remove the part, if it is there. Raises StorageAway."""

    def list_unfinished(self) -> Iterator[Listed]:
        """Files that a killed process left unfinished, and files that are being written now."""

    def remove_unfinished(self, name: str) -> None:
        """As `remove_part`."""


class StorageAway(Away):
    """The storage cannot be used now; the message says what it answered."""

    @classmethod
    def of(cls, error: OSError) -> StorageAway:
        """The error of a disk: StorageFull where there is no room."""
        kind = StorageFull if error.errno in FULL else StorageAway
        return kind(error.strerror or str(error))


class StorageFull(StorageAway):
    """The storage has no room: only a person can help."""


@contextlib.contextmanager
def disk_outages() -> Iterator[None]:
    """An error of the disk becomes StorageAway; a missing file stays FileNotFoundError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StorageAway.of(error) from error
