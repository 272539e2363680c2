"""Where raw artefacts live: one interface; files on disk or S3, small ones in rows before both.

Artefacts are addressed by the SHA-256 of their bytes, so the same bytes are stored once and a
stored object never changes. The bytes of a refused upload are removed at once, other bytes that no
row names by the collector (collector.py). A storage that cannot be reached or written raises
StorageAway, on disk and on S3 alike.
"""

from backend.ingest.storage.configured import bulk_storage, open_artefact, storage
from backend.ingest.storage.files import FileStorage
from backend.ingest.storage.interface import CHUNK_BYTES, Storage
from backend.ingest.storage.outages import FULL, StorageAway, StorageFull
from backend.ingest.storage.records import Listed, Stored
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
