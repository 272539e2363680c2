"""A limit of memory for a whole site: the largest process dies, as in a container."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import psutil

from backend.testing.supervised import SupervisedSite


@dataclass(slots=True)
class MemoryLimit:
    """Kills the largest process whenever the site is seen to use more than `limit_bytes`.

    It does what the kernel does in a container, but needs no right to make one. Pages that
    processes share are counted once.
    """

    site: SupervisedSite
    limit_bytes: int
    peak_bytes: int = 0
    kills: int = 0

    def look(self) -> None:
        sizes = memory_of(self.site)
        used_bytes = sum(sizes.values())
        self.peak_bytes = max(self.peak_bytes, used_bytes)
        if used_bytes > self.limit_bytes and sizes:
            with contextlib.suppress(psutil.Error):
                max(sizes, key=lambda process: sizes[process]).kill()
                self.kills += 1


def memory_of(site: SupervisedSite) -> dict[psutil.Process, int]:
    """Bytes of each process below the supervisor; pages in common are divided among them."""
    sizes = {}
    with contextlib.suppress(psutil.Error):
        for process in psutil.Process(site.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                sizes[process] = process.memory_full_info().pss
    return sizes
