"""The room that a web process has for what waits for clients: large bodies, and answers.

Bytes are counted as they come, not as they are announced. Where bodies, or answers, have more than
`BODIES_MAX_BYTES`, the payer that has most of them pays. If this payer is adding, what it adds to
is refused. Otherwise the payer's largest body or answer that waits for its client is ended, even
if the client is silent. Bodies and answers do not share their room: strangers fill only that of
answers.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from django.conf import settings

from backend.untrusted.body_refusals import NoRoom
from backend.untrusted.limits import LARGE_BODIES, LARGE_BODIES_TOGETHER

# Shorter answers and bodies of strangers wait in memory, and are not counted.
MEMORY_BYTES = 64 << 10


@dataclass(slots=True)
class Room:
    """What is held by whom. Threads write answers, so it has a lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    sizes: Counter[str] = field(default_factory=Counter)
    holds: set["Hold"] = field(default_factory=set)

    @contextmanager
    def hold(self, payer: str) -> Iterator["Hold"]:
        """Room until the block ends."""
        held = Hold(self, payer)
        try:
            yield held
        finally:
            with self.lock:
                self.give_back(held)

    def refuse(self, hold: "Hold") -> None:
        hold.is_refused = True
        self.give_back(hold)
        if hold.stop:
            hold.stop()

    def give_back(self, hold: "Hold") -> None:
        self.holds.discard(hold)
        self.sizes[hold.payer] -= hold.size
        hold.size = 0
        if not self.sizes[hold.payer]:
            del self.sizes[hold.payer]


BODIES, ANSWERS = Room(), Room()
# Large bodies on their way, by sender and by workspace.
_on_their_way: Counter[str] = Counter()


@dataclass(slots=True, eq=False)
class Hold:
    """The bytes of one body, or one answer. `payer`: a person, or a network."""

    room: Room
    payer: str
    size: int = 0
    is_refused: bool = False
    # While it waits for its client: how to end that.
    stop: Callable[[], object] | None = None

    def add(self, size: int) -> None:
        """Count bytes. Raises NoRoom where the payer has most and there is no more room."""
        room = self.room
        with room.lock:
            if self.is_refused:
                raise _no_room()
            room.holds.add(self)
            self.size += size
            room.sizes[self.payer] += size
            while room.sizes.total() > settings.BODIES_MAX_BYTES:
                payer = max(room.sizes, key=room.sizes.__getitem__)
                if room.sizes[self.payer] == room.sizes[payer]:
                    self.stop = None
                    room.refuse(self)
                    raise _no_room()
                waiting = [each for each in room.holds if each.payer == payer and each.stop]
                if not waiting:
                    # Threads work on them, which are few.
                    return
                room.refuse(max(waiting, key=lambda each: each.size))

    @asynccontextmanager
    async def waits(self) -> AsyncIterator[None]:
        """The block waits for the client. Raises NoRoom where it is ended for others."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as end:

                def stop() -> None:
                    # The block may have ended by itself before.
                    with suppress(RuntimeError):
                        end.reschedule(loop.time())

                self.stop = partial(loop.call_soon_threadsafe, stop)
                yield
        except TimeoutError:
            if not self.is_refused:
                raise
        finally:
            with self.room.lock:
                self.stop = None
        if self.is_refused:
            raise _no_room()


def _no_room() -> NoRoom:
    return NoRoom(
        "Large requests or answers take all the room at the moment, and you or your network have "
        "most of them."
    )


@contextmanager
def share_of(sender: str, workspace: str, person: str) -> Iterator[Hold]:
    """A share for one body, until its request is answered. Raises NoRoom.

    `sender`: a token or user; `workspace`: that of the token, or the same user; `person`: who made
    the token, because a person may have many workspaces.
    """
    for name, most in {workspace: LARGE_BODIES_TOGETHER, sender: LARGE_BODIES}.items():
        if _on_their_way[name] >= most:
            whose = "This token or user" if name == sender else "Your workspace"
            raise NoRoom(
                f"{whose} sends {most} large requests at the same time, which is the limit."
            )
    names = {sender, workspace}
    _on_their_way.update(names)
    try:
        with BODIES.hold(person) as held:
            yield held
    finally:
        _on_their_way.subtract(names)
        for name in names:
            if not _on_their_way[name]:
                del _on_their_way[name]
