"""Artefacts as files on a local disk, whose folders are locked and flushed."""

import contextlib
import fcntl
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from backend.storage.interface import IS_SHA256, Listed, StorageAway, Stored, disk_outages

# How the name of a file begins that is being written.
UNFINISHED = "incoming-"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[int]:
    """The folder's descriptor. No other process puts or takes back a file in it meanwhile."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def fsync_folder(folder: Path) -> None:
    """Make what was renamed in it durable."""
    # A rename is durable only once its folder is.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class FileStorage:
    """Files below one folder, `ab/abcdef…`, written beside their place and renamed into it.

    Parts of artefacts on their way are in `parts/`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        with disk_outages():
            root.mkdir(parents=True, exist_ok=True)

    def put(self, chunks: Iterable[bytes], meanwhile: Callable[[], None] = lambda: None) -> Stored:
        # Written as the chunks come: nothing is left to send.
        return self._put(chunks, self._place)

    def put_part(self, name: str, chunks: Iterable[bytes]) -> Stored:
        return self._put(chunks, lambda _: self._part(name))

    def _put(self, chunks: Iterable[bytes], place: Callable[[str], Path]) -> Stored:
        try:
            with disk_outages():
                return self._write(chunks, place)
        except FileNotFoundError as gone:
            raise StorageAway(f"the folder {self.root} is gone") from gone

    def _write(self, chunks: Iterable[bytes], place: Callable[[str], Path]) -> Stored:
        digest, size = hashlib.sha256(), 0
        handle, temporary = tempfile.mkstemp(dir=self.root, prefix=UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as out:
                for chunk in chunks:
                    digest.update(chunk)
                    size += len(chunk)
                    out.write(chunk)
                out.flush()
                os.fsync(out.fileno())
            inode = self._move(temporary, place(digest.hexdigest()))
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        return Stored(digest.hexdigest(), size, inode)

    def _move(self, temporary: str, place: Path) -> int:
        """The inode of the new file; 0 where one of the same bytes was replaced."""
        if not place.parent.is_dir():
            place.parent.mkdir(exist_ok=True)
            fsync_folder(self.root)
        with locked(place.parent) as folder:
            inode = 0 if place.exists() else os.stat(temporary).st_ino
            os.replace(temporary, place)
            os.fsync(folder)
        return inode

    def take_back(self, stored: Stored) -> None:
        if not stored.inode:
            return
        place = self._place(stored.sha256)
        # Bytes that another upload put since then are in another file of the same name.
        with (
            disk_outages(),
            contextlib.suppress(FileNotFoundError),
            locked(place.parent),
        ):
            if place.stat().st_ino == stored.inode:
                place.unlink()

    def open(self, sha256: str) -> BinaryIO:
        return self._open(self._place(sha256))

    def open_part(self, name: str) -> BinaryIO:
        return self._open(self._part(name))

    def _open(self, place: Path) -> BinaryIO:
        if not self.root.is_dir():
            raise StorageAway(f"the folder {self.root} is gone")
        with disk_outages():
            return place.open("rb")

    def has(self, sha256: str) -> bool:
        with disk_outages():
            return self._place(sha256).is_file()

    def has_all(self, sha256s: Collection[str]) -> bool:
        return all(map(self.has, sha256s))

    def list(self) -> Iterator[Listed]:
        folders = [place for place in self._entries(self.root) if re.fullmatch("..", place.name)]
        for folder in folders:
            for place in self._entries(Path(folder.path)):
                if IS_SHA256(place.name):
                    yield from _listed(place)

    def remove(self, sha256: str) -> None:
        self._remove(self._place(sha256))

    def list_parts(self) -> Iterator[Listed]:
        for place in self._entries(self.root / "parts"):
            yield from _listed(place)

    def remove_part(self, name: str) -> None:
        self._remove(self._part(name))

    def list_unfinished(self) -> Iterator[Listed]:
        for place in self._entries(self.root):
            if place.name.startswith(UNFINISHED):
                yield from _listed(place)

    def remove_unfinished(self, name: str) -> None:
        self._remove(self.root / name)

    def _entries(self, folder: Path) -> Sequence[os.DirEntry[str]]:
        if not self.root.is_dir():
            raise StorageAway(f"the folder {self.root} is gone")
        with (
            disk_outages(),
            contextlib.suppress(FileNotFoundError),
            os.scandir(folder) as it,
        ):
            return list(it)
        return []

    def _remove(self, place: Path) -> None:
        with disk_outages():
            place.unlink(missing_ok=True)

    @contextlib.contextmanager
    def local_path(self, sha256: str) -> Iterator[Path]:
        # Open here once, to distinguish an outage from a missing file.
        self.open(sha256).close()
        yield self._place(sha256)

    def _place(self, sha256: str) -> Path:
        return self.root / sha256[:2] / sha256

    def _part(self, name: str) -> Path:
        return self.root / "parts" / name


def _listed(place: os.DirEntry[str]) -> Iterator[Listed]:
    # Gone since the folder was read: then it is not listed.
    with disk_outages(), contextlib.suppress(FileNotFoundError):
        status = place.stat()
        yield Listed(place.name, status.st_size, status.st_mtime)
