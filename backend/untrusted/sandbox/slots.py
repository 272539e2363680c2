"""Slots for long work in a web process: few requests hold one, the others get 503.

A thread that waits for a slot answers no other request. So few threads wait, and not for long.
Short work has slots of its own, so it does not wait behind work that takes minutes.
"""

from collections.abc import Hashable, Iterator
from contextlib import ExitStack, contextmanager

from backend.untrusted.sandbox.fair_slots import Busy, OwnerBusy, Slots

# At most twelve of the twenty threads of a web process do such work or wait for it: three for what
# may take long, three for what may not, four for previews, two for previews without an account
# (preview_slots.py).
RUNNING, WAITING = 2, 1
SHORT_RUNNING, SHORT_WAITING = 1, 2

# An owner never takes all slots.
LONG_WORK = Slots(running=RUNNING, waiting=WAITING, of_owner=2, running_of_owner=1)
# An owner never takes all places, so others wait for two short works at most.
SHORT_WORK = Slots(running=SHORT_RUNNING, waiting=SHORT_WAITING, of_owner=SHORT_WAITING)


@contextmanager
def short_or_long(owner: Hashable) -> Iterator[None]:
    """A slot for short work. If these are all taken, a slot for long work, as long as the owner has
    no more than its share of those. Raises Busy and OwnerBusy.
    """
    with ExitStack() as slot:
        try:
            slot.enter_context(SHORT_WORK.take(owner))
        except (Busy, OwnerBusy):
            slot.enter_context(LONG_WORK.take(owner))
        yield
