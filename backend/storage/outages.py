"""The errors of a storage, the same for disks and S3."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

from backend.errors import Away

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
def disk_outages() -> Iterator[None]:
    """An error of the disk becomes StorageAway; a missing file stays FileNotFoundError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StorageAway.of(error) from error
