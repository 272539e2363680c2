"""Slots for long work in a web process: few requests hold one, the others get 503.

A thread that waits for a slot answers no other request. So few threads wait, and not for long. Work
that cannot take long has slots of its own: it does not wait behind what takes minutes.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import ExitStack, contextmanager

from backend.errors import Away

# Of the eight threads of a web process two are always free of such work.
RUNNING, WAITING = 2, 1
SHORT_RUNNING, SHORT_WAITING = 1, 2
PATIENCE_S = 5.0
RETRY_AFTER_S = 10


class Busy(Away):
    """All slots are taken. Nothing was stored; the same request works later."""

    def __init__(self) -> None:
        super().__init__("The service is busy with other files.")


class Slots:
    """Slots that the threads of this process share.

    An owner, such as a workspace, holds at most `of_owner` of the places that run and wait, where
    that is given. So another owner finds a place, however much the first one sends.
    """

    def __init__(self, *, running: int, waiting: int, of_owner: int | None = None) -> None:
        self._running = threading.BoundedSemaphore(running)
        self._waiting = threading.BoundedSemaphore(waiting)
        self._of_owner = of_owner
        self._places: Counter[Hashable] = Counter()
        self._lock = threading.Lock()
        self._own = threading.local()

    @contextmanager
    def take(self, owner: Hashable = None) -> Iterator[None]:
        """A slot until the block ends. A thread that holds one keeps it. Raises Busy."""
        if getattr(self._own, "is_taken", False):
            yield
            return
        with self._place_of(owner):
            self._acquire()
            self._own.is_taken = True
            try:
                yield
            finally:
                self._own.is_taken = False
                self._running.release()

    @contextmanager
    def _place_of(self, owner: Hashable) -> Iterator[None]:
        with self._lock:
            if self._of_owner is not None and self._places[owner] >= self._of_owner:
                raise Busy
            self._places[owner] += 1
        try:
            yield
        finally:
            with self._lock:
                self._places[owner] -= 1
                if not self._places[owner]:
                    del self._places[owner]

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
# One owner leaves a place to the others, who then wait for two short works at most.
SHORT_WORK = Slots(running=SHORT_RUNNING, waiting=SHORT_WAITING, of_owner=SHORT_WAITING)
# Previews of people without an account never take the last slot of long work. One waits: a page
# previews by itself what was pasted, and the person may ask at the same time.
STRANGERS = Slots(running=1, waiting=1)


@contextmanager
def short_or_long(owner: Hashable) -> Iterator[None]:
    """A slot for work that cannot take long: of its own kind, or where those are taken one for long
    work. Raises Busy.
    """
    with ExitStack() as slot:
        try:
            slot.enter_context(SHORT_WORK.take(owner))
        except Busy:
            slot.enter_context(LONG_WORK.take())
        yield
