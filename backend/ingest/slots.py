"""Slots for long work in a web process: few requests hold one, the others get 503.

A thread that waits for a slot answers no other request. So few threads wait, and not for long. Work
that cannot take long has slots of its own: it does not wait behind what takes minutes.
"""

from collections.abc import Hashable, Iterator
from contextlib import ExitStack, contextmanager

from backend.ingest.fair_slots import Busy, OwnerBusy, Slots

# At most twelve of the twenty threads of a web process do such work or wait for it: three for what
# may take long, three for what may not, four for previews, two for previews without an account
# (preview_slots.py).
RUNNING, WAITING = 2, 1
SHORT_RUNNING, SHORT_WAITING = 1, 2

# One owner leaves a slot to the others.
LONG_WORK = Slots(running=RUNNING, waiting=WAITING, of_owner=2, running_of_owner=1)
# One owner leaves a place to the others, who then wait for two short works at most.
SHORT_WORK = Slots(running=SHORT_RUNNING, waiting=SHORT_WAITING, of_owner=SHORT_WAITING)


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
