"""Where raw artefacts live: one interface; files on disk or S3, small ones in rows before both.

Artefacts are addressed by the SHA-256 of their bytes, so the same bytes are stored once and a
stored object never changes. The bytes of a refused upload are removed at once, other bytes that no
row names by the collector (collector.py). A storage that cannot be reached or written raises
StorageAway, on disk and on S3 alike.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from backend.ingest.storage.files import FileStorage
from backend.ingest.storage.interface import CHUNK_BYTES, Listed, Storage, Stored
from backend.ingest.storage.outages import FULL, StorageAway, StorageFull
from backend.ingest.storage.rows import rows_first
from backend.ingest.storage.s3 import S3Storage

__all__ = [
    "CHUNK_BYTES",
    "FULL",
    "FileStorage",
    "Listed",
    "S3Storage",
    "Storage",
    "StorageAway",
    "StorageFull",
    "Stored",
    "bulk_storage",
    "open_artefact",
    "storage",
]


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
