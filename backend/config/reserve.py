"""Room that is kept for the database on its disk: a file that is given up when the disk is full.

A database that cannot write its log stops. The reserve is what it goes on with, and what it starts
with on a full disk, so that people can read, and delete what fills it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

# Eight segments of PostgreSQL's log.
LARGEST_BYTES = 128 << 20
# On a small disk.
LARGEST_SHARE = 1 / 16


@dataclass(frozen=True, slots=True)
class Reserve:
    """A file of zeros in a folder of the database's disk."""

    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / "reserve"

    @property
    def is_kept(self) -> bool:
        return self.path.exists()

    def tend(self) -> str | None:
        """Give the reserve up or take it back; returns a line for people when it was given up."""
        usage = shutil.disk_usage(self.folder)
        size = min(LARGEST_BYTES, int(usage.total * LARGEST_SHARE))
        if self.is_kept and usage.free < size // 4:
            self.path.unlink(missing_ok=True)
            return (
                f"The disk of {self.folder} is full. The database goes on with its reserve of "
                f"{size >> 20} MiB: make room"
            )
        if not self.is_kept and usage.free > 3 * size:
            self._take(size)
        return None

    def _take(self, size: int) -> None:
        half = self.folder / "reserve.half"
        with contextlib.suppress(OSError):
            with half.open("wb") as out:
                os.posix_fallocate(out.fileno(), 0, size)
            half.rename(self.path)
