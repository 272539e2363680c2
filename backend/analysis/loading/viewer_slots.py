"""How many large answers one viewer, and all viewers, may have made at once in one web process.

A comparison, a run of thousands of trials, a table of trials, a search of many runs and the answer
to an observation are large. A viewer that asks for many of them leaves threads and memory for the
others, and all viewers without an account together leave places for members. Who is one viewer is
decided by `backend.accounts.people.access`. Cached answers and small runs need no slot.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from backend.accounts.people.access import VISITOR
from backend.errors import Away, TooMany

# The most large answers of one viewer at once: two places are left to other viewers.
RUNNING, WAITING = 2, 2
# Places of all viewers, of those that run and those that wait. With long work on files, which has
# places of its own, they leave threads of a web process to everything else.
PLACES = 6
# Of these, the places of all viewers without an account: the others are for members.
VISITORS_PLACES = 3
# Of these, the most of one visitor: the last one is for other visitors.
PLACES_OF_VISITOR = 2
PATIENCE_S = 5.0
RETRY_AFTER_S = 2


class TooManyAnswers(TooMany):
    """As many large answers are made for this viewer as allowed; the same request works later."""

    def __init__(self, places: int = RUNNING + WAITING) -> None:
        super().__init__(
            f"{places} of your large answers (comparisons, large runs, tables of trials, "
            "observations) are being computed or are waiting.",
            wait_s=RETRY_AFTER_S,
        )


class TooManyComparisons(TooManyAnswers):
    """As its base, to a request for a comparison: programs know it by a code of its own."""


class AnswersBusy(Away):
    """All places are taken, by other viewers too. The same request works later."""

    def __init__(self, places: int = PLACES) -> None:
        super().__init__(f"{places} large answers are being computed or are waiting.")


@dataclass(slots=True)
class _Viewer:
    running: int = 0
    waiting: int = 0

    @property
    def places(self) -> int:
        return self.running + self.waiting


_viewers: dict[str, _Viewer] = {}
_changed = threading.Condition()


class _Own(threading.local):
    """Of the thread: what ends with the answer that it makes, and whether that holds a slot."""

    answer: ExitStack | None = None
    has_slot = False


_own = _Own()


@contextmanager
def comparison_slot(viewer: str) -> Iterator[None]:
    """A slot of this viewer until the block ends. An answer that holds a slot needs no other.

    Raises TooManyComparisons and AnswersBusy.
    """
    if _own.has_slot:
        yield
        return
    with _slot(viewer, TooManyComparisons):
        yield


@contextmanager
def giving_slots_back() -> Iterator[None]:
    """An answer is made inside: at the end, the slot that `hold_slot` took is given back."""
    with ExitStack() as answer:
        _own.answer = answer
        try:
            yield
        finally:
            _own.answer, _own.has_slot = None, False


def hold_slot(viewer: str) -> None:
    """A slot of this viewer until the answer is written: what a view returns may be data that is
    written as bytes later. An answer holds one slot at most; outside of an answer there is none.

    Raises TooManyAnswers and AnswersBusy.
    """
    if _own.answer is not None and not _own.has_slot:
        _own.answer.enter_context(_slot(viewer, TooManyAnswers))
        _own.has_slot = True


@contextmanager
def _slot(viewer: str, refusal: type[TooManyAnswers]) -> Iterator[None]:
    with _changed:
        _enter(viewer, refusal)
    try:
        yield
    finally:
        with _changed:
            _viewers[viewer].running -= 1
            if not _viewers[viewer].places:
                del _viewers[viewer]
            _changed.notify_all()


def _is_visitor(viewer: str) -> bool:
    return viewer.startswith(VISITOR)


def _places(counts: Callable[[str], bool]) -> int:
    """How many places the viewers have that `counts` picks by their name."""
    return sum(each.places for viewer, each in _viewers.items() if counts(viewer))


def _enter(viewer: str, refusal: type[TooManyAnswers]) -> None:
    counts = _viewers.get(viewer, _Viewer())
    most = PLACES_OF_VISITOR if _is_visitor(viewer) else RUNNING + WAITING
    if counts.places >= most:
        raise refusal(most)
    if _places(lambda _: True) >= PLACES:
        raise AnswersBusy
    if _is_visitor(viewer) and _places(_is_visitor) >= VISITORS_PLACES:
        raise AnswersBusy(VISITORS_PLACES)
    _viewers[viewer] = counts
    counts.waiting += 1
    try:
        if not _changed.wait_for(lambda: counts.running < RUNNING, timeout=PATIENCE_S):
            raise refusal(counts.places)
        counts.running += 1
    finally:
        counts.waiting -= 1
