"""How many large answers one viewer, and all viewers, may have made at once in one web process.

A comparison, a run of thousands of trials, a table of trials, a search of many runs and the answer
to an observation are large. Viewers take turns (backend/untrusted/sandbox/fair_slots.py), those
with an account apart from all others. Who is one viewer is decided by
`backend.accounts.workspace.access`. Cached answers and small runs need no slot.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from backend.accounts.workspace.access import VISITOR
from backend.untrusted.sandbox.fair_slots import Busy, OwnerBusy, Slots

RETRY_AFTER_S = 2


class TooManyAnswers(OwnerBusy):
    """As many large answers are made for this viewer as allowed; the same request works later."""

    sentence = (
        "Other large answers of yours (comparisons, large runs, tables of trials, observations) "
        "are being computed or are waiting."
    )
    retry_after_s = RETRY_AFTER_S


class TooManyComparisons(TooManyAnswers):
    """As its base, to a request for a comparison: programs know it by a code of its own."""


class AnswersBusy(Busy):
    """All places are taken, by other viewers too. The same request works later."""

    sentence = "Large answers of others are being computed or are waiting."


# No viewer has all slots, nor all places to wait.
_REFUSALS = (TooManyAnswers, AnswersBusy)
MEMBERS = Slots(running=3, waiting=2, of_owner=4, running_of_owner=2, refusals=_REFUSALS)
VISITORS = Slots(running=2, waiting=3, of_owner=2, running_of_owner=1, refusals=_REFUSALS)


class _Own(threading.local):
    """Of the thread: what ends with the answer that it makes."""

    answer: ExitStack | None = None


_own = _Own()


@contextmanager
def comparison_slot(viewer: str) -> Iterator[None]:
    """A slot of this viewer until the block ends. An answer that holds a slot needs no other.

    Raises TooManyComparisons and AnswersBusy.
    """
    with ExitStack() as slot:
        try:
            slot.enter_context(_slots_of(viewer).take(viewer))
        except TooManyAnswers:
            raise TooManyComparisons from None
        yield


@contextmanager
def giving_slots_back() -> Iterator[None]:
    """An answer is made inside: at the end, the slot that `hold_slot` took is given back."""
    with ExitStack() as answer:
        _own.answer = answer
        try:
            yield
        finally:
            _own.answer = None


def hold_slot(viewer: str) -> None:
    """A slot of this viewer until the answer is written: what a view returns may be data that is
    written as bytes later. An answer holds one slot at most; outside of an answer there is none.

    Raises TooManyAnswers and AnswersBusy.
    """
    if _own.answer is not None:
        _own.answer.enter_context(_slots_of(viewer).take(viewer))


def _slots_of(viewer: str) -> Slots:
    return VISITORS if viewer.startswith(VISITOR) else MEMBERS
