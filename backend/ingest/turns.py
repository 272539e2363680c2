"""Few requests of a web process may do long work at once; the others are told to come back.

A thread that waits answers nobody else: so few wait, and not for long.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Of four threads of a web process one is always free.
RUNNING, WAITING = 2, 1
PATIENCE_S = 5.0
RETRY_AFTER_S = 10


class Busy(Exception):
    """All turns are taken. Nothing was stored; the same request works later."""

    def __init__(self) -> None:
        super().__init__("The service works on other large files at the moment.")


class Turns:
    """Turns of the threads of this process."""

    def __init__(self, *, running: int, waiting: int) -> None:
        self._running = threading.BoundedSemaphore(running)
        self._waiting = threading.BoundedSemaphore(waiting)
        self._mine = threading.local()

    @contextmanager
    def take(self) -> Iterator[None]:
        """A turn until the block ends; a thread that has one already keeps it. Raises Busy."""
        if getattr(self._mine, "is_taken", False):
            yield
            return
        self._acquire()
        self._mine.is_taken = True
        try:
            yield
        finally:
            self._mine.is_taken = False
            self._running.release()

    def _acquire(self) -> None:
        if self._running.acquire(blocking=False):
            return
        if not self._waiting.acquire(blocking=False):
            raise Busy
        try:
            if not self._running.acquire(timeout=PATIENCE_S):
                raise Busy
        finally:
            self._waiting.release()


LONG_WORK = Turns(running=RUNNING, waiting=WAITING)
