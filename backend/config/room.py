"""The room that a web process has for what waits for clients: large bodies, and answers.

Bytes are counted as they come, not as they are announced. Where there are more than
`BODIES_MAX_BYTES`, who has most of them pays. Is it the one that adds, this body or answer is
refused; else the largest of theirs that waits for a client is ended, also where the client is
silent.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from django.conf import settings

from backend.ingest.body_refusals import TooManyBodies
from backend.ingest.limits import LARGE_BODIES, LARGE_BODIES_TOGETHER

# Shorter answers and bodies of strangers wait in memory, and are not counted.
MEMORY_BYTES = 64 << 10

# Answers are written by threads.
_lock = threading.Lock()
_sizes: Counter[str] = Counter()
_holders: set["Hold"] = set()
# By sender, and by who pays.
_bodies: Counter[str] = Counter()


@dataclass(slots=True, eq=False)
class Hold:
    """The bytes of one body, or one answer. `payer`: a workspace, a user, or a network."""

    payer: str
    size: int = 0
    is_refused: bool = False
    # While it waits for its client: how to end that.
    stop: Callable[[], object] | None = None

    def add(self, size: int) -> None:
        """Count bytes. Raises TooManyBodies where the payer has most and there is no more room."""
        with _lock:
            if self.is_refused:
                raise _no_room()
            _holders.add(self)
            self.size += size
            _sizes[self.payer] += size
            while _sizes.total() > settings.BODIES_MAX_BYTES:
                payer = max(_sizes, key=_sizes.__getitem__)
                if _sizes[self.payer] == _sizes[payer]:
                    self.stop = None
                    _refuse(self)
                    raise _no_room()
                waiting = [each for each in _holders if each.payer == payer and each.stop]
                if not waiting:
                    # Threads work on them, which are few.
                    return
                largest = max(waiting, key=lambda each: each.size)
                _refuse(largest)

    @asynccontextmanager
    async def waits(self) -> AsyncIterator[None]:
        """The block waits for the client. Raises TooManyBodies where it is ended for others."""
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        self.stop = lambda: loop.call_soon_threadsafe(task.cancel)
        try:
            yield
            with _lock:
                self.stop = None
            if self.is_refused:
                # The cancellation is on its way, and not for what follows.
                await asyncio.sleep(1)
        except asyncio.CancelledError:
            if not self.is_refused:
                raise
            task.uncancel()
            raise _no_room() from None
        finally:
            self.stop = None


def _no_room() -> TooManyBodies:
    return TooManyBodies(
        "Large requests and answers take all the room at the moment, and you, your workspace or "
        "your network have most of them."
    )


def _refuse(hold: Hold) -> None:
    hold.is_refused = True
    _give_back(hold)
    if hold.stop:
        hold.stop()


def _give_back(hold: Hold) -> None:
    _holders.discard(hold)
    _sizes[hold.payer] -= hold.size
    hold.size = 0
    if not _sizes[hold.payer]:
        del _sizes[hold.payer]


@contextmanager
def hold(payer: str) -> Iterator[Hold]:
    """Room until the block ends."""
    held = Hold(payer)
    try:
        yield held
    finally:
        with _lock:
            _give_back(held)


@contextmanager
def share_of(sender: str, payer: str) -> Iterator[Hold]:
    """A share for one body, until its request is answered. Raises TooManyBodies.

    `sender`: a token or user; `payer`: its workspace, or the same user.
    """
    for name, most in {payer: LARGE_BODIES_TOGETHER, sender: LARGE_BODIES}.items():
        if _bodies[name] >= most:
            whose = "This token or user" if name == sender else "Your workspace"
            raise TooManyBodies(
                f"{whose} sends {most} large requests at the same time, which is the limit."
            )
    names = {sender, payer}
    _bodies.update(names)
    try:
        with hold(payer) as held:
            yield held
    finally:
        _bodies.subtract(names)
        for name in names:
            if not _bodies[name]:
                del _bodies[name]
