"""Where raw artefacts live: one interface, files on disk by default, S3-compatible if configured.

Artefacts are addressed by the SHA-256 of their bytes, so the same bytes are stored once and a
stored object never changes. The bytes of a refused upload are removed at once, other bytes that no
row names by the collector (collector.py).

A storage that cannot be reached or written raises StorageAway, whatever it is made of.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from django.conf import settings

from backend.errors import Away

CHUNK_BYTES = 1 << 20
# How the name of a file begins that is being written.
UNFINISHED = "incoming-"
IS_SHA256 = re.compile(r"[0-9a-f]{64}").fullmatch
FULL = (errno.ENOSPC, errno.EDQUOT)


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
def _faults_of_the_disk() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StorageAway.of(error) from error


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
    def put(self, chunks: Iterable[bytes]) -> Stored:
        """Store durably: when this returns the bytes survive a power cut. Raises StorageAway."""

    def take_back(self, stored: Stored) -> None:
        """Remove what `put` just made, unless the same bytes were put again meanwhile."""

    def open(self, sha256: str) -> BinaryIO:
        """The stored bytes; raises FileNotFoundError and StorageAway."""

    def local_path(self, sha256: str) -> contextlib.AbstractContextManager[Path]:
        """A local file with the bytes, for the parser's child process; raises as `open` does."""

    def has(self, sha256: str) -> bool:
        """Whether the bytes are there. Raises StorageAway."""

    def list(self) -> Iterator[Listed]:
        """The stored artefacts, named by their SHA-256, in any order. Raises StorageAway."""

    def remove(self, sha256: str) -> None:
        """It is gone when this returns, whether it was there or not. Raises StorageAway.

        Only for the collector, which holds the lock that makes it safe.
        """

    def put_part(self, name: str, chunks: Iterable[bytes]) -> Stored:
        """As `put`, under a name of its own: shared with nobody, so that it can be removed."""

    def open_part(self, name: str) -> BinaryIO:
        """Raises as `open` does."""

    def list_parts(self) -> Iterator[Listed]:
        """The parts, by the names they were put under."""

    def remove_part(self, name: str) -> None:
        """Gone when this returns, whether it was there or not. Raises StorageAway."""

    def list_unfinished(self) -> Iterator[Listed]:
        """What a killed process was writing; also what is being written this moment."""

    def remove_unfinished(self, name: str) -> None:
        """As `remove_part`."""


class FileStorage:
    """Files below one folder, `ab/abcdef…`, written beside their place and renamed into it.

    Parts of artefacts on their way are in `parts/`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        with _faults_of_the_disk():
            root.mkdir(parents=True, exist_ok=True)

    def put(self, chunks: Iterable[bytes]) -> Stored:
        return self._put(chunks, self._place)

    def put_part(self, name: str, chunks: Iterable[bytes]) -> Stored:
        return self._put(chunks, lambda _: self._part(name))

    def _put(self, chunks: Iterable[bytes], place: Callable[[str], Path]) -> Stored:
        try:
            with _faults_of_the_disk():
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
            _fsync_folder(self.root)
        with _locked(place.parent) as folder:
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
            _faults_of_the_disk(),
            contextlib.suppress(FileNotFoundError),
            _locked(place.parent),
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
        with _faults_of_the_disk():
            return place.open("rb")

    def has(self, sha256: str) -> bool:
        with _faults_of_the_disk():
            return self._place(sha256).is_file()

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
            _faults_of_the_disk(),
            contextlib.suppress(FileNotFoundError),
            os.scandir(folder) as it,
        ):
            return list(it)
        return []

    def _remove(self, place: Path) -> None:
        with _faults_of_the_disk():
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


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """The folder's descriptor; nobody else puts a file into it or takes one back meanwhile."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _listed(place: os.DirEntry[str]) -> Iterator[Listed]:
    # Gone since the folder was read: then it is not listed.
    with _faults_of_the_disk(), contextlib.suppress(FileNotFoundError):
        status = place.stat()
        yield Listed(place.name, status.st_size, status.st_mtime)


def _fsync_folder(folder: Path) -> None:
    # A rename is durable only once its folder is.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class S3Storage:
    """An S3-compatible bucket through boto3; the store checks the SHA-256 of what it got."""

    def __init__(self, bucket: str, endpoint: str) -> None:
        import boto3  # slow to import, and only S3 installations need it
        from botocore.config import Config

        self.bucket = bucket
        self.client = boto3.client(
            "s3",
            endpoint_url=endpoint or None,
            # A request must not wait long for a store that is away: it can be sent again.
            config=Config(connect_timeout=3, read_timeout=30, retries={"total_max_attempts": 2}),
        )

    def put(self, chunks: Iterable[bytes]) -> Stored:
        with _faults_of_s3(), _faults_of_the_disk():
            return self._put(chunks)

    def take_back(self, stored: Stored) -> None:
        # Whether the bytes were there before is not known: the object stays for the collector.
        return

    def put_part(self, name: str, chunks: Iterable[bytes]) -> Stored:
        with _faults_of_s3(), _faults_of_the_disk():
            return self._put(chunks, key=_part_key(name))

    def _put(self, chunks: Iterable[bytes], *, key: str = "") -> Stored:
        digest, size = hashlib.sha256(), 0
        with tempfile.TemporaryFile() as spooled:
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                spooled.write(chunk)
            spooled.seek(0)
            self.client.put_object(
                Bucket=self.bucket,
                Key=key or digest.hexdigest(),
                Body=spooled,
                ChecksumAlgorithm="SHA256",
            )
        return Stored(digest.hexdigest(), size)

    def open(self, sha256: str) -> BinaryIO:
        with _faults_of_s3():
            try:
                body = self.client.get_object(Bucket=self.bucket, Key=sha256)["Body"]
            except self.client.exceptions.NoSuchKey:
                raise FileNotFoundError(sha256) from None
        return cast(BinaryIO, body)

    def open_part(self, name: str) -> BinaryIO:
        return self.open(_part_key(name))

    def has(self, sha256: str) -> bool:
        with _faults_of_s3():
            try:
                self.client.head_object(Bucket=self.bucket, Key=sha256)
            except self.client.exceptions.ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] == HTTPStatus.NOT_FOUND:
                    return False
                raise
        return True

    def list(self) -> Iterator[Listed]:
        # Other keys in the bucket are somebody else's.
        return (entry for entry in self._keys("") if IS_SHA256(entry.name))

    def remove(self, sha256: str) -> None:
        self._remove(sha256)

    def list_parts(self) -> Iterator[Listed]:
        return self._keys(PARTS)

    def remove_part(self, name: str) -> None:
        self._remove(_part_key(name))

    def list_unfinished(self) -> Iterator[Listed]:
        """Nothing: S3 stores an object whole or not at all."""
        return iter(())

    def remove_unfinished(self, name: str) -> None:
        """There is none."""

    def _keys(self, prefix: str) -> Iterator[Listed]:
        with _faults_of_s3():
            pages = self.client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self.bucket, Prefix=prefix):
                for item in page.get("Contents", []):
                    name = item["Key"].removeprefix(prefix)
                    yield Listed(name, item["Size"], item["LastModified"].timestamp())

    def _remove(self, key: str) -> None:
        with _faults_of_s3():
            self.client.delete_object(Bucket=self.bucket, Key=key)

    @contextlib.contextmanager
    def local_path(self, sha256: str) -> Iterator[Path]:
        # A folder and no open file: of an upload thousands may be held at once.
        with tempfile.TemporaryDirectory(prefix="artefact-") as folder:
            place = Path(folder) / sha256
            with _faults_of_s3(), _faults_of_the_disk(), place.open("wb") as local:
                body = self.open(sha256)
                while chunk := body.read(CHUNK_BYTES):
                    local.write(chunk)
            yield place


PARTS = "parts/"


def _part_key(name: str) -> str:
    return PARTS + name


@contextlib.contextmanager
def _faults_of_s3() -> Iterator[None]:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise StorageAway(str(error)) from error


@lru_cache(maxsize=1)
def storage() -> Storage:
    """The storage this installation is configured for."""
    if settings.S3_BUCKET:
        return S3Storage(settings.S3_BUCKET, settings.S3_ENDPOINT_URL)
    return FileStorage(Path(settings.DATA_DIR) / "artefacts")


def open_artefact(sha256: str) -> BinaryIO:
    """The raw bytes of a stored artefact."""
    return storage().open(sha256)
