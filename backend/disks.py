"""Room on the disks that this process writes to. Below a limit uploads are refused.

The limit lies well before a full disk: what is left is for the database, which stops when it cannot
write. A database on another machine has disks that are not seen from here.
"""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes on one disk. `name`: what the service keeps on it."""

    name: str
    free: int
    total: int
    least: int

    @property
    def is_short(self) -> bool:
        """Whether uploads are refused."""
        return self.free < self.least

    @property
    def sentence(self) -> str:
        return (
            f"the disk of {self.name} has {self.free >> 20} MiB free, less than "
            f"{self.least >> 20} MiB: uploads are refused"
        )


def rooms() -> list[Room]:
    """Of each disk once. A folder that cannot be asked is left out."""
    by_device: dict[int, Room] = {}
    for name, folder, least_bytes in _folders():
        try:
            device, usage = folder.stat().st_dev, shutil.disk_usage(folder)
        except OSError:
            continue
        least = max(usage.total * settings.LEAST_FREE_PERCENT // 100, least_bytes)
        by_device.setdefault(device, Room(name, usage.free, usage.total, least))
    return list(by_device.values())


def is_short() -> bool:
    """Whether any of the disks is."""
    return any(room.is_short for room in rooms())


def unseen_folders() -> list[Path]:
    """Those that do not exist, or that this process cannot reach."""
    return [folder for _, folder, _ in _folders() if not folder.is_dir()]


def _folders() -> Iterator[tuple[str, Path, int]]:
    """Name, folder and the least bytes of each, the strictest first."""
    if not settings.S3_BUCKET:
        yield "DATA_DIR", settings.DATA_DIR, settings.LEAST_FREE_BYTES
    if settings.DATABASE_DIR:
        yield "the database", Path(settings.DATABASE_DIR), settings.LEAST_FREE_BYTES
    # Often small and in memory: a number of bytes would refuse everything there.
    yield "temporary files", Path(tempfile.gettempdir()), 0
