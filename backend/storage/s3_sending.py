"""Sending an object to S3, in parts where it is large, and what killed processes left of that."""

import logging
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

log = logging.getLogger(__name__)

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
