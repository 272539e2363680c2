"""The storage that this installation is configured for."""

from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from backend.storage.files import FileStorage
from backend.storage.interface import Storage
from backend.storage.rows import rows_first
from backend.storage.s3 import S3Storage


@lru_cache(maxsize=1)
def storage() -> Storage:
    """The storage this installation is configured for."""
    return rows_first(bulk_storage())


def bulk_storage() -> Storage:
    """The folder or the bucket alone, without the rows of small artefacts. Raises StorageAway."""
    if settings.S3_BUCKET:
        return S3Storage(settings.S3_BUCKET, settings.S3_ENDPOINT_URL)
    return FileStorage(Path(settings.DATA_DIR) / "artefacts")


def open_artefact(sha256: str) -> BinaryIO:
    """The raw bytes of a stored artefact."""
    return storage().open(sha256)
