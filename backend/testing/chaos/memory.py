"""A limit of memory for a whole site: the largest process dies, as in a container."""

from __future__ import annotations

import contextlib
import threading

import psutil

from backend.testing.supervised import SupervisedSite

LOOK_EVERY_S = 0.25


class MemoryLimit:
    """Kills the largest process whenever the site uses more than `limit_bytes`.

    It does what the kernel does in a container, but needs no right to make one. Pages that
    processes share are counted once.
    """

    def __init__(self, site: SupervisedSite, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.peak_bytes = 0
        self.kills = 0
        self._site = site
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> MemoryLimit:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(LOOK_EVERY_S):
            sizes = memory_of(self._site)
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
