"""Slots for long work in a web process: few requests hold one, the others get 503.

A thread that waits for a slot answers no other request. So few threads wait, and not for long.
Short work has slots of its own, so it does not wait behind work that takes minutes; so have
previews.
"""

from collections.abc import Hashable, Iterator
from contextlib import ExitStack, contextmanager

from backend.untrusted.sandbox.fair_slots import Busy, OwnerBusy, Slots

# At most twelve of the threads of a web process do such work or wait for it: three for what
# may take long, three for what may not, four for previews, two for previews without an account.
RUNNING, WAITING = 2, 1
SHORT_RUNNING, SHORT_WAITING = 1, 2

# An owner never takes all slots.
LONG_WORK = Slots(running=RUNNING, waiting=WAITING, of_owner=2, running_of_owner=1)
# An owner never takes all places, so others wait for two short works at most.
SHORT_WORK = Slots(running=SHORT_RUNNING, waiting=SHORT_WAITING, of_owner=SHORT_WAITING)

PREVIEWS_RUNNING, PREVIEWS_WAITING, PREVIEWS_OF_VIEWER = 2, 2, 2
# Longer than one file of a preview takes, after which another viewer comes next.
PREVIEW_PATIENCE_S = 30.0
# The owner of what pages read again, whoever looks at them.
PAGES = object()


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


class TooManyPreviews(OwnerBusy):
    """The viewer has as many previews read as one may. The same request works later."""

    sentence = "One of your previews is being read, and another preview waits."


# A viewer never takes all slots, nor all places to wait. Between two files of a preview, others go
# first.
PREVIEWS = Slots(
    running=PREVIEWS_RUNNING,
    waiting=PREVIEWS_WAITING,
    of_owner=PREVIEWS_OF_VIEWER,
    running_of_owner=1,
    patience_s=PREVIEW_PATIENCE_S,
    refusals=(TooManyPreviews, Busy),
)
# Previews of people without an account never take the last slot of previews. One waits: a page
# previews by itself what was pasted, and the person may ask at the same time. An address that has
# one read leaves the place to wait to an address that has none.
STRANGERS = Slots(
    running=1, waiting=1, of_owner=PREVIEWS_OF_VIEWER, refusals=(TooManyPreviews, Busy)
)
