"""The client of an S3-compatible service, and its errors as those of every storage.

Both libraries are slow to import, and only S3 installations need them.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from django.conf import settings

from backend.storage.outages import StorageAway


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
