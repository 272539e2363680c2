"""Slots for long work in a web process: few requests hold one, the others get 503.

A thread that waits for a slot answers no other request. So few threads wait, and not for long. Work
that cannot take long has slots of its own: it does not wait behind what takes minutes.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from backend.errors import Away, TooMany

# At most eight of the sixteen threads of a web process do such work or wait for it: three of each
# kind, and two for previews without an account.
RUNNING, WAITING = 2, 1
SHORT_RUNNING, SHORT_WAITING = 1, 2
PATIENCE_S = 10.0
RETRY_AFTER_S = 10
# The owner of work that no limit of an owner is for.
NOBODYS = object()
# The owner of what pages read anew, whoever looks at them.
PAGES = object()


class Busy(Away):
    """All slots are taken. Nothing was stored; the same request works later."""

    def __init__(self) -> None:
        super().__init__("The service is busy with other files.")


class OwnerBusy(TooMany):
    """The owner has all the places that one may have. Nothing was stored."""

    def __init__(self) -> None:
        super().__init__("Other files of yours are being searched here.", wait_s=RETRY_AFTER_S)


@dataclass(slots=True, eq=False)
class _Ticket:
    """One request in the queue of those that want a slot."""

    owner: Hashable
    has_given_way: bool = False


class Slots:
    """Slots that the threads of this process share; who came first goes first.

    An owner, such as a workspace, runs in at most `running_of_owner` of them, and holds at most
    `of_owner` of the places that run and wait, where these are given. So another owner finds a
    place, however much the first one sends. Work that is `NOBODYS` has no such limit. Where all
    places to wait are taken, an owner that runs work gives one up to an owner that runs none.
    """

    def __init__(
        self,
        *,
        running: int,
        waiting: int,
        of_owner: int | None = None,
        running_of_owner: int | None = None,
    ) -> None:
        self._most_running, self._most_waiting = running, waiting
        self._of_owner, self._running_of_owner = of_owner, running_of_owner
        # The most threads that run or wait.
        self.places = running + waiting
        self._changed = threading.Condition()
        self._running: list[Hashable] = []
        self._queue: list[_Ticket] = []
        self._own = threading.local()

    @contextmanager
    def take(self, owner: Hashable = NOBODYS) -> Iterator[None]:
        """A slot until the block ends. A thread that holds one keeps it.

        Raises OwnerBusy where this owner has too many, else Busy.
        """
        if getattr(self._own, "is_taken", False):
            yield
            return
        with self._changed:
            self._enter(_Ticket(owner))
        self._own.is_taken = True
        try:
            yield
        finally:
            self._own.is_taken = False
            with self._changed:
                self._running.remove(owner)
                self._changed.notify_all()

    def _enter(self, ticket: _Ticket) -> None:
        if self._is_beyond(self._of_owner, ticket, [*self._running, *self._waiting_owners()]):
            raise OwnerBusy
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
        self._changed.wait_for(lambda: ticket.has_given_way or self._next() is ticket, PATIENCE_S)
        if ticket.has_given_way or self._next() is not ticket:
            raise Busy

    def _make_room_for(self, ticket: _Ticket) -> None:
        """Send away one whose owner runs work already. Raises Busy where none waits."""
        if self._runs_work(ticket):
            raise Busy
        for other in self._queue:
            if other is not ticket and self._runs_work(other) and not other.has_given_way:
                other.has_given_way = True
                self._changed.notify_all()
                return
        raise Busy

    def _runs_work(self, ticket: _Ticket) -> bool:
        return ticket.owner is not NOBODYS and ticket.owner in self._running

    def _next(self) -> _Ticket | None:
        """The first in the queue who may run now."""
        if len(self._running) >= self._most_running:
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

    def _waiting_owners(self) -> list[Hashable]:
        return [ticket.owner for ticket in self._queue]

    @staticmethod
    def _is_beyond(most: int | None, ticket: _Ticket, owners: Sequence[Hashable]) -> bool:
        """Whether one more of the ticket's owner would be too many."""
        return (
            most is not None and ticket.owner is not NOBODYS and owners.count(ticket.owner) >= most
        )


# One owner leaves a slot to the others.
LONG_WORK = Slots(running=RUNNING, waiting=WAITING, of_owner=2, running_of_owner=1)
# One owner leaves a place to the others, who then wait for two short works at most.
SHORT_WORK = Slots(running=SHORT_RUNNING, waiting=SHORT_WAITING, of_owner=SHORT_WAITING)
# Previews of people without an account never take the last slot of long work. One waits: a page
# previews by itself what was pasted, and the person may ask at the same time.
STRANGERS = Slots(running=1, waiting=1)


@contextmanager
def short_or_long(owner: Hashable) -> Iterator[None]:
    """A slot for work that cannot take long: of its own kind, or where those are taken one for long
    work, in which the owner has no more than its share. Raises Busy and OwnerBusy.
    """
    with ExitStack() as slot:
        try:
            slot.enter_context(SHORT_WORK.take(owner))
        except (Busy, OwnerBusy):
            slot.enter_context(LONG_WORK.take(owner))
        yield
