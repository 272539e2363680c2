"""Artefacts as objects in an S3-compatible bucket.

Large ones are sent in parts. Both libraries of S3 are slow to import, and only S3 installations
need them.
"""

import contextlib
import hashlib
import logging
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO, cast

from django.conf import settings

from backend.storage.interface import (
    CHUNK_BYTES,
    IS_SHA256,
    Listed,
    StorageAway,
    Stored,
    disk_outages,
)

log = logging.getLogger(__name__)

PARTS = "parts/"
# What is larger is sent in parts of this size: S3 takes at most 5 GiB in one request, and a request
# that failed is sent again by itself. One part is in memory at a time.
PART_BYTES = 32 << 20
# A store may not have it, or the bucket's policy may not allow it.
_NO_LISTING = frozenset({"AccessDenied", "NotImplemented"})


def send(
    client: Any, bucket: str, key: str, source: BinaryIO, meanwhile: Callable[[], None]
) -> None:
    """Store what `source` has, in one request or in parts; a failed one leaves no object."""
    from boto3.s3.transfer import TransferConfig

    client.upload_fileobj(
        source,
        bucket,
        key,
        ExtraArgs={"ChecksumAlgorithm": "SHA256"},
        Callback=lambda _sent_bytes: meanwhile(),
        Config=TransferConfig(
            multipart_threshold=PART_BYTES + 1, multipart_chunksize=PART_BYTES, use_threads=False
        ),
    )


def unfinished(client: Any, bucket: str) -> Iterator[tuple[str, str, float]]:
    """Objects in parts that a killed process left unfinished: key, id and when they began (Unix
    time, s).

    Nothing where the store does not list them: it may remove them by a rule of the bucket.
    """
    try:
        pages = client.get_paginator("list_multipart_uploads")
        for page in pages.paginate(Bucket=bucket):
            for item in page.get("Uploads", []):
                yield item["Key"], item["UploadId"], item["Initiated"].timestamp()
    except client.exceptions.ClientError as error:
        code = error.response["Error"]["Code"]
        if code not in _NO_LISTING:
            raise
        log.warning("unfinished_not_listed", extra={"reason": code})


def make_client(endpoint: str) -> Any:
    """Of Amazon's service where `endpoint` is empty. Its credentials are those of the settings.

    Where they are empty, boto3 looks for others: a file of AWS, the role of the machine.
    """
    import boto3
    from botocore.config import Config

    return boto3.client(
        "s3",
        endpoint_url=endpoint or None,
        aws_access_key_id=settings.AWS_ACCESS_KEY_ID or None,
        aws_secret_access_key=settings.AWS_SECRET_ACCESS_KEY or None,
        aws_session_token=settings.AWS_SESSION_TOKEN or None,
        # A request must not wait long for a store that does not answer: it can be sent again.
        config=Config(connect_timeout=3, read_timeout=30, retries={"total_max_attempts": 2}),
    )


@contextlib.contextmanager
def s3_outages() -> Iterator[None]:
    """Raises StorageAway in the place of what the client raises."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise StorageAway(str(error)) from error


class S3Storage:
    """An S3-compatible bucket through boto3; the store checks the SHA-256 of what it got."""

    def __init__(self, bucket: str, endpoint: str) -> None:
        self.bucket = bucket
        self.client = make_client(endpoint)

    def put(
        self,
        chunks: Iterable[bytes],
        meanwhile: Callable[[], None] = lambda: None,
        *,
        key: str = "",
    ) -> Stored:
        digest, size = hashlib.sha256(), 0
        with s3_outages(), disk_outages(), tempfile.TemporaryFile() as spooled:
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                spooled.write(chunk)
            spooled.seek(0)
            send(self.client, self.bucket, key or digest.hexdigest(), spooled, meanwhile)
        return Stored(digest.hexdigest(), size)

    def take_back(self, stored: Stored) -> None:
        # Whether the bytes were there before is not known: the object stays for the collector.
        return

    def put_part(self, name: str, chunks: Iterable[bytes]) -> Stored:
        return self.put(chunks, key=PARTS + name)

    def open(self, sha256: str) -> BinaryIO:
        with s3_outages():
            try:
                body = self.client.get_object(Bucket=self.bucket, Key=sha256)["Body"]
            except self.client.exceptions.NoSuchKey:
                raise FileNotFoundError(sha256) from None
        return cast(BinaryIO, body)

    def open_part(self, name: str) -> BinaryIO:
        return self.open(PARTS + name)

    def has(self, sha256: str) -> bool:
        with s3_outages():
            try:
                self.client.head_object(Bucket=self.bucket, Key=sha256)
            except self.client.exceptions.ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] == HTTPStatus.NOT_FOUND:
                    return False
                raise
        return True

    def has_all(self, sha256s: Collection[str]) -> bool:
        return all(map(self.has, sha256s))

    def list(self) -> Iterator[Listed]:
        # Other keys in the bucket do not belong to Loadsheet.
        return (entry for entry in self._keys("") if IS_SHA256(entry.name))

    def remove(self, sha256: str) -> None:
        with s3_outages():
            self.client.delete_object(Bucket=self.bucket, Key=sha256)

    def list_parts(self) -> Iterator[Listed]:
        return self._keys(PARTS)

    def remove_part(self, name: str) -> None:
        self.remove(PARTS + name)

    def list_unfinished(self) -> Iterator[Listed]:
        with s3_outages():
            for key, id_, begun_at_s in unfinished(self.client, self.bucket):
                if IS_SHA256(key) or key.startswith(PARTS):
                    yield Listed(f"{key} {id_}", 0, begun_at_s)

    def remove_unfinished(self, name: str) -> None:
        key, _, id_ = name.partition(" ")
        with s3_outages(), contextlib.suppress(self.client.exceptions.NoSuchUpload):
            self.client.abort_multipart_upload(Bucket=self.bucket, Key=key, UploadId=id_)

    def _keys(self, prefix: str) -> Iterator[Listed]:
        with s3_outages():
            pages = self.client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self.bucket, Prefix=prefix):
                for item in page.get("Contents", []):
                    name = item["Key"].removeprefix(prefix)
                    yield Listed(name, item["Size"], item["LastModified"].timestamp())

    @contextlib.contextmanager
    def local_path(self, sha256: str) -> Iterator[Path]:
        # A folder and no open file: of an upload thousands may be held at once.
        with tempfile.TemporaryDirectory(prefix="artefact-") as folder:
            place = Path(folder) / sha256
            with s3_outages(), disk_outages(), place.open("wb") as local:
                body = self.open(sha256)
                while chunk := body.read(CHUNK_BYTES):
                    local.write(chunk)
            yield place
