"""Where raw artefacts live: one interface; files on disk or S3, small ones in rows before both.

Artefacts are addressed by the SHA-256 of their bytes, so the same bytes are stored once and a
stored object never changes. The bytes of a refused upload are removed at once, other bytes that no
row names by the collector (collector.py). A storage that cannot be reached or written raises
StorageAway, on disk and on S3 alike.
"""

from backend.storage.configured import bulk_storage, open_artefact, storage
from backend.storage.files import FileStorage
from backend.storage.interface import (
    CHUNK_BYTES,
    FULL,
    Listed,
    Storage,
    StorageAway,
    StorageFull,
    Stored,
)
from backend.storage.s3 import S3Storage

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
