"""Where raw artefacts live: one interface, files on disk by default, S3-compatible if configured.

Artefacts are addressed by the SHA-256 of their bytes, so the same bytes are stored once and a
stored object never changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from django.conf import settings

CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Stored:
    """What was stored: SHA-256 in hex and the size in bytes."""

    sha256: str
    size_bytes: int


class Storage(Protocol):
    def put(self, chunks: Iterable[bytes]) -> Stored:
        """Store durably: when this returns the bytes survive a power cut."""

    def open(self, sha256: str) -> BinaryIO:
        """The stored bytes; raises FileNotFoundError."""

    def local_path(self, sha256: str) -> contextlib.AbstractContextManager[Path]:
        """A local file with the bytes, for the parser's child process."""


class FileStorage:
    """Files below one folder, `ab/abcdef…`, written beside their place and renamed into it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def put(self, chunks: Iterable[bytes]) -> Stored:
        digest, size = hashlib.sha256(), 0
        handle, temporary = tempfile.mkstemp(dir=self.root, prefix="incoming-")
        try:
            with os.fdopen(handle, "wb") as out:
                for chunk in chunks:
                    digest.update(chunk)
                    size += len(chunk)
                    out.write(chunk)
                out.flush()
                os.fsync(out.fileno())
            self._move_into_place(temporary, digest.hexdigest())
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        return Stored(digest.hexdigest(), size)

    def _move_into_place(self, temporary: str, sha256: str) -> None:
        place = self._place(sha256)
        if not place.parent.is_dir():
            place.parent.mkdir(exist_ok=True)
            _fsync_folder(self.root)
        os.replace(temporary, place)
        _fsync_folder(place.parent)

    def open(self, sha256: str) -> BinaryIO:
        return self._place(sha256).open("rb")

    @contextlib.contextmanager
    def local_path(self, sha256: str) -> Iterator[Path]:
        yield self._place(sha256)

    def _place(self, sha256: str) -> Path:
        return self.root / sha256[:2] / sha256


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

        self.bucket = bucket
        self.client = boto3.client("s3", endpoint_url=endpoint or None)

    def put(self, chunks: Iterable[bytes]) -> Stored:
        digest, size = hashlib.sha256(), 0
        with tempfile.TemporaryFile() as spooled:
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                spooled.write(chunk)
            spooled.seek(0)
            self.client.put_object(
                Bucket=self.bucket,
                Key=digest.hexdigest(),
                Body=spooled,
                ChecksumAlgorithm="SHA256",
            )
        return Stored(digest.hexdigest(), size)

    def open(self, sha256: str) -> BinaryIO:
        try:
            body = self.client.get_object(Bucket=self.bucket, Key=sha256)["Body"]
        except self.client.exceptions.NoSuchKey:
            raise FileNotFoundError(sha256) from None
        return cast(BinaryIO, body)

    @contextlib.contextmanager
    def local_path(self, sha256: str) -> Iterator[Path]:
        with tempfile.NamedTemporaryFile() as local:
            body = self.open(sha256)
            while chunk := body.read(CHUNK_BYTES):
                local.write(chunk)
            local.flush()
            yield Path(local.name)


@lru_cache(maxsize=1)
def storage() -> Storage:
    """The storage this installation is configured for."""
    if settings.S3_BUCKET:
        return S3Storage(settings.S3_BUCKET, settings.S3_ENDPOINT_URL)
    return FileStorage(Path(settings.DATA_DIR) / "artefacts")


def open_artefact(sha256: str) -> BinaryIO:
    """The raw bytes of a stored artefact."""
    return storage().open(sha256)
