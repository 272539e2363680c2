"""How many comparisons one viewer, and all viewers, may compute at once in one web process.

A viewer that asks for many large comparisons leaves threads for the others. Who is one viewer is
decided above, where requests are known. Cached answers need no slot.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from backend.errors import Away, TooMany

# The most comparisons of one viewer at once: two places are left to other viewers.
RUNNING, WAITING = 2, 2
# Places of all viewers, of those that run and those that wait. With long work on files, which has
# places of its own, they leave two threads of a web process to everything else.
PLACES = 6
PATIENCE_S = 5.0
RETRY_AFTER_S = 2


class TooManyComparisons(TooMany):
    """This viewer computes as many comparisons as allowed; the same request works later."""

    def __init__(self) -> None:
        super().__init__(
            f"{RUNNING} comparisons of yours are computed at the moment, and {WAITING} wait.",
            wait_s=RETRY_AFTER_S,
        )


class ComparisonsBusy(Away):
    """All places are taken, by other viewers too. The same request works later."""

    def __init__(self) -> None:
        super().__init__(f"{PLACES} comparisons are computed or wait at the moment.")


@dataclass(slots=True)
class _Viewer:
    running: int = 0
    waiting: int = 0

    @property
    def places(self) -> int:
        return self.running + self.waiting


_viewers: dict[str, _Viewer] = {}
_changed = threading.Condition()


@contextmanager
def comparison_slot(viewer: str) -> Iterator[None]:
    """A slot of this viewer until the block ends. Raises TooManyComparisons and ComparisonsBusy."""
    with _changed:
        _enter(viewer)
    try:
        yield
    finally:
        with _changed:
            _viewers[viewer].running -= 1
            if not _viewers[viewer].places:
                del _viewers[viewer]
            _changed.notify_all()


def _enter(viewer: str) -> None:
    counts = _viewers.get(viewer, _Viewer())
    if counts.places >= RUNNING + WAITING:
        raise TooManyComparisons
    if sum(each.places for each in _viewers.values()) >= PLACES:
        raise ComparisonsBusy
    _viewers[viewer] = counts
    counts.waiting += 1
    try:
        if not _changed.wait_for(lambda: counts.running < RUNNING, timeout=PATIENCE_S):
            raise TooManyComparisons
        counts.running += 1
    finally:
        counts.waiting -= 1
