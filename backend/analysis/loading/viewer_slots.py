"""How many comparisons one viewer may compute at the same time in one web process.

A viewer that asks for many large comparisons leaves threads for the others. Who is one viewer is
decided above, where requests are known. Cached answers need no slot.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from backend.errors import TooMany

# Of the eight threads of a web process one viewer holds at most five.
RUNNING, WAITING = 2, 3
PATIENCE_S = 5.0
RETRY_AFTER_S = 2


class TooManyComparisons(TooMany):
    """This viewer computes as many comparisons as allowed; the same request works later."""

    def __init__(self) -> None:
        super().__init__(
            f"{RUNNING} comparisons of yours are computed at the moment, and {WAITING} wait.",
            wait_s=RETRY_AFTER_S,
        )


@dataclass(slots=True)
class _Viewer:
    running: int = 0
    waiting: int = 0


_viewers: dict[str, _Viewer] = {}
_changed = threading.Condition()


@contextmanager
def comparison_slot(viewer: str) -> Iterator[None]:
    """A slot of this viewer until the block ends. Raises TooManyComparisons."""
    with _changed:
        counts = _viewers.setdefault(viewer, _Viewer())
        _wait_for_slot(counts)
        counts.running += 1
    try:
        yield
    finally:
        with _changed:
            counts.running -= 1
            if not (counts.running or counts.waiting):
                del _viewers[viewer]
            _changed.notify_all()


def _wait_for_slot(counts: _Viewer) -> None:
    if counts.running < RUNNING:
        return
    if counts.waiting >= WAITING:
        raise TooManyComparisons
    counts.waiting += 1
    try:
        if not _changed.wait_for(lambda: counts.running < RUNNING, timeout=PATIENCE_S):
            raise TooManyComparisons
    finally:
        counts.waiting -= 1
