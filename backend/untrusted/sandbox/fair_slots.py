"""Slots that threads wait for, shared fairly among those whose work it is."""

import math
import threading
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from backend.errors import Away, TooMany

PATIENCE_S = 10.0
RETRY_AFTER_S = 10
OWNERS_REMEMBERED = 1_000
# The owner of work that no limit of an owner is for.
NOBODYS = object()


class Busy(Away):
    """All slots are taken. Nothing was stored; the same request works later."""

    sentence = "The service is busy with other files."

    def __init__(self) -> None:
        super().__init__(self.sentence)


class OwnerBusy(TooMany):
    """The owner has all the places that one may have. Nothing was stored."""

    sentence = "Other files of yours are being searched here."
    retry_after_s = RETRY_AFTER_S

    def __init__(self) -> None:
        super().__init__(self.sentence, wait_s=self.retry_after_s)


@dataclass(slots=True, eq=False)
class _Ticket:
    """One request in the queue of those that want a slot."""

    owner: Hashable
    has_given_way: bool = False
    # It ran before, and goes on: nobody sends it away.
    has_begun: bool = False


class Slots:
    """Slots that the threads of this process share; who came first goes first.

    An owner, such as a workspace, runs in at most `running_of_owner` of them, and holds at most
    `of_owner` of the places that run and wait, where these are given. So another owner finds a
    place, however much the first one sends. Work that is `NOBODYS` has no such limit. Where all
    places to wait are taken, the owner that runs work, or ran it last, gives one up to an owner
    that had no turn since.
    """

    def __init__(
        self,
        *,
        running: int,
        waiting: int,
        of_owner: int | None = None,
        running_of_owner: int | None = None,
        patience_s: float | None = None,
        refusals: tuple[type[OwnerBusy], type[Busy]] = (OwnerBusy, Busy),
    ) -> None:
        self.running, self._most_waiting = running, waiting
        self.of_owner, self._running_of_owner = of_owner, running_of_owner
        self._patience_s = patience_s
        self._refusal, self._busy = refusals
        # The most threads that run or wait.
        self.places = running + waiting
        self._changed = threading.Condition()
        self._running: list[Hashable] = []
        self._queue: list[_Ticket] = []
        # When each owner had its last turn, the latest at the end.
        self._ended_s: dict[Hashable, float] = {}
        self._own = threading.local()

    @property
    def are_held(self) -> bool:
        """Whether this thread has a slot."""
        return getattr(self._own, "is_taken", False)

    @contextmanager
    def take(self, owner: Hashable = NOBODYS) -> Iterator[None]:
        """A slot until the block ends. A thread that holds one keeps it.

        Raises OwnerBusy where this owner has too many, else Busy.
        """
        if self.are_held:
            yield
            return
        with self._changed:
            self._enter(_Ticket(owner))
        self._own.is_taken, self._own.owner = True, owner
        try:
            yield
        finally:
            self._own.is_taken = False
            with self._changed:
                self._running.remove(owner)
                self._remember(owner)
                self._changed.notify_all()

    def let_others_go_first(self) -> float:
        """Between two steps of the work of this thread: each other owner that waits comes before
        the next step. Returns when this thread has a slot again, which it keeps where nobody waits:
        the seconds until then.
        """
        owner = self._own.owner
        ticket = _Ticket(owner, has_begun=True)
        with self._changed:
            others = [other for other in self._queue if other.owner != owner]
            if not others:
                return 0.0
            began_s = time.monotonic()
            # All that waits of this owner goes behind the others.
            own = [other for other in self._queue if other.owner == owner]
            self._queue[:] = [*others, ticket, *own]
            self._running.remove(owner)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._next() is ticket)
            self._queue.remove(ticket)
            self._running.append(owner)
            self._changed.notify_all()
            return time.monotonic() - began_s

    def _enter(self, ticket: _Ticket) -> None:
        owners = [*self._running, *(waiting.owner for waiting in self._queue)]
        if self._is_beyond(self.of_owner, ticket, owners):
            raise self._refusal
        self._queue.append(ticket)
        try:
            if self._next() is not ticket:
                self._wait(ticket)
            self._running.append(ticket.owner)
        finally:
            self._queue.remove(ticket)
            self._changed.notify_all()

    def _wait(self, ticket: _Ticket) -> None:
        if len(self._queue) > self._most_waiting:
            self._make_room_for(ticket)
        patience_s = PATIENCE_S if self._patience_s is None else self._patience_s
        self._changed.wait_for(lambda: ticket.has_given_way or self._next() is ticket, patience_s)
        if ticket.has_given_way or self._next() is not ticket:
            raise self._busy

    def _make_room_for(self, ticket: _Ticket) -> None:
        """Send away the one whose owner had its turn last. Raises Busy where that is not later than
        the ticket's owner had one.
        """
        free = (other for other in self._queue if not (other.has_given_way or other.has_begun))
        latest = max(free, key=self._last_turn_s)
        if self._last_turn_s(latest) <= self._last_turn_s(ticket):
            raise self._busy
        latest.has_given_way = True
        self._changed.notify_all()

    def _last_turn_s(self, ticket: _Ticket) -> float:
        """By the monotonic clock; infinite while it lasts."""
        if ticket.owner is not NOBODYS and ticket.owner in self._running:
            return math.inf
        return self._ended_s.get(ticket.owner, 0.0)

    def _remember(self, owner: Hashable) -> None:
        if owner is NOBODYS:
            return
        self._ended_s.pop(owner, None)
        self._ended_s[owner] = time.monotonic()
        if len(self._ended_s) > OWNERS_REMEMBERED:
            del self._ended_s[next(iter(self._ended_s))]

    def _next(self) -> _Ticket | None:
        """The first in the queue who may run now."""
        if len(self._running) >= self.running:
            return None
        return next(
            (
                ticket
                for ticket in self._queue
                if not ticket.has_given_way
                and not self._is_beyond(self._running_of_owner, ticket, self._running)
            ),
            None,
        )

    @staticmethod
    def _is_beyond(most: int | None, ticket: _Ticket, owners: Sequence[Hashable]) -> bool:
        """Whether one more of the ticket's owner would be too many."""
        return (
            most is not None and ticket.owner is not NOBODYS and owners.count(ticket.owner) >= most
        )
