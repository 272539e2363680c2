"""Slots for long work in a web process: few requests hold one, the others get 503.

A thread that waits for a slot answers no other request. So few threads wait, and not for long.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from backend.errors import Away

# Of eight threads of a web process five are always free.
RUNNING, WAITING = 2, 1
PATIENCE_S = 5.0
RETRY_AFTER_S = 10


class Busy(Away):
    """All slots are taken. Nothing was stored; the same request works later."""

    def __init__(self) -> None:
        super().__init__("The service is busy with other large files.")


class Slots:
    """Slots that the threads of this process share."""

    def __init__(self, *, running: int, waiting: int) -> None:
        self._running = threading.BoundedSemaphore(running)
        self._waiting = threading.BoundedSemaphore(waiting)
        self._own = threading.local()

    @contextmanager
    def take(self) -> Iterator[None]:
        """A slot until the block ends. A thread that holds one keeps it. Raises Busy."""
        if getattr(self._own, "is_taken", False):
            yield
            return
        self._acquire()
        self._own.is_taken = True
        try:
            yield
        finally:
            self._own.is_taken = False
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


LONG_WORK = Slots(running=RUNNING, waiting=WAITING)
# Previews of people without an account never take the last slot of long work.
STRANGERS = Slots(running=1, waiting=0)
