"""The memory of processes that run: how much lives, and how much is free and kept.

Growth of what lives is a leak, or a cache that fills. Resident memory that grows while this stays
is fragmentation: free memory between what lives, which the allocator cannot give back.
"""

import json
import signal
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

import psutil

from backend.testing.waiting import wait_until

PROBE = Path(__file__).parent / "sitecustomize.py"
WAIT_S = 30.0


@dataclass(frozen=True)
class Memory:
    """Of processes together: bytes, and numbers of blocks and objects of Python."""

    resident: int
    # Of malloc: what lives, and what is free and kept. Python has most of its objects in there.
    used: int
    free: int
    blocks: int
    objects: int

    @property
    def line(self) -> str:
        return (
            f"{self.resident / 1e6:.1f} MB resident, malloc {self.used / 1e6:.1f} MB used and "
            f"{self.free / 1e6:.1f} MB free, {self.blocks:,} blocks, {self.objects:,} objects"
        )


@contextmanager
def probed() -> Iterator[Path]:
    """A folder: processes that have it in PYTHONPATH answer to `ask_memory`."""
    with TemporaryDirectory(prefix="loadsheet-probe-") as folder:
        copyfile(PROBE, Path(folder) / PROBE.name)
        yield Path(folder)


def ask_memory(pids: Collection[int], folder: Path, *, trim: bool = False) -> Memory:
    """What these processes have, after giving back what is free where `trim` is true."""
    number = signal.SIGUSR2 if trim else signal.SIGUSR1
    told = [_ask(psutil.Process(pid), folder, number) for pid in pids]
    names = ("resident", "used", "free", "blocks", "objects")
    return Memory(**{name: sum(each.get(name, 0) for each in told) for name in names})


def _ask(process: psutil.Process, folder: Path, number: int) -> dict[str, int]:
    path = folder / f"{process.pid}.json"
    path.unlink(missing_ok=True)
    process.send_signal(number)
    if not wait_until(path.exists, WAIT_S, every_s=0.01):
        raise SystemExit(f"A process did not say within {WAIT_S:g} s what its memory has.")
    return {**json.loads(path.read_text()), "resident": process.memory_info().rss}
