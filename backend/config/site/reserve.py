"""Room that is kept for the database on its disk: files that are given up when the disk is full.

A database that cannot write its log stops, and one that cannot write its first files does not
start. One reserve keeps a running database alive, the other lets it start. So people can read, and
delete what fills the disk.
"""

import contextlib
import os
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from psycopg.pq import PGconn, Ping

from backend.config.site.progress import say

# Four segments of PostgreSQL's log each.
LARGEST_BYTES = 64 << 20
# Of a small disk.
LARGEST_SHARE = 1 / 16
RUNNING, STARTING = "reserve", "reserve-start"
LOOK_EVERY_S = 1.0
ANSWERS_WITHIN_S = 2


@dataclass(frozen=True, slots=True)
class Reserve:
    """A file of zeros in a folder of the database's disk."""

    folder: Path
    name: str = RUNNING

    @property
    def path(self) -> Path:
        return self.folder / self.name

    @property
    def is_kept(self) -> bool:
        return self.path.exists()

    def tend(self, *, is_starting: bool = False) -> str | None:
        """Give the reserve up or take it back; returns a line for people when it was given up."""
        may_go = is_starting or self.name == RUNNING
        usage = shutil.disk_usage(self.folder)
        size = min(LARGEST_BYTES, int(usage.total * LARGEST_SHARE))
        if may_go and self.is_kept and usage.free < size // 4:
            self.path.unlink(missing_ok=True)
            return (
                f"The disk of {self.folder} is full. The database goes on with its reserve of "
                f"{size >> 20} MiB: make room"
            )
        if not self.is_kept and usage.free > 4 * size:
            self._take(size)
        return None

    def _take(self, size: int) -> None:
        half = self.folder / f"{self.name}.half"
        with contextlib.suppress(OSError):
            with half.open("wb") as out:
                os.posix_fallocate(out.fileno(), 0, size)
            half.rename(self.path)


def reserves_of(folder: Path) -> list[Reserve]:
    return [Reserve(folder, name) for name in (STARTING, RUNNING)]


def keep(folder: Path, server: str) -> None:
    """Tend the reserves of a PostgreSQL in another container, until the process is ended.

    `server` is how to connect to it ("host=postgres port=5432"). Its container starts again by
    itself: while PostgreSQL does not answer, or recovers, it is starting.
    """
    address = f"{server} connect_timeout={ANSWERS_WITHIN_S}".encode()
    while True:
        is_starting = PGconn.ping(address) != Ping.OK
        for reserve in reserves_of(folder):
            if line := reserve.tend(is_starting=is_starting):
                say(line)
        time.sleep(LOOK_EVERY_S)


if __name__ == "__main__":
    keep(Path(sys.argv[1]), sys.argv[2])
