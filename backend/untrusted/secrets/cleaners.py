"""The children that take secrets out of files: one for each thread that needs one."""

import threading
from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from backend.untrusted.sandbox.fair_slots import NOBODYS
from backend.untrusted.sandbox.slots import LONG_WORK, PREVIEWS, short_or_long
from backend.untrusted.secrets.cleaner import Cleaner


@dataclass(frozen=True, slots=True)
class Work:
    """Whose file is searched, and whether it is so small that this cannot take long."""

    payer: Hashable = NOBODYS
    is_short: bool = False


# By whether they do short work.
_idle: dict[bool, list[Cleaner]] = {True: [], False: []}
_lock = threading.Lock()


def _slot(work: Work) -> AbstractContextManager[None]:
    """The turn of this thread; a preview has had its own."""
    if PREVIEWS.are_held:
        return nullcontext()
    return short_or_long(work.payer) if work.is_short else LONG_WORK.take(work.payer)


@contextmanager
def cleaner(work: Work = Work()) -> Iterator[Cleaner]:
    """A child for the thread that asks, while it has a turn. Raises Busy and OwnerBusy."""
    with _slot(work):
        idle = _idle[work.is_short]
        with _lock:
            taken = idle.pop() if idle else None
        if taken is None or not taken.is_ours:
            taken = Cleaner(is_short=work.is_short)
        try:
            yield taken
        finally:
            with _lock:
                idle.append(taken)
