"""How many comparisons one viewer may compute at the same time in one web process.

A viewer is known by the workspaces that the comparison is over. So one tenant that asks for many
large comparisons leaves threads for the others. Cached answers need no slot.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

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


_viewers: dict[frozenset[UUID], _Viewer] = {}
_changed = threading.Condition()


@contextmanager
def comparison_slot(workspace_ids: Sequence[UUID]) -> Iterator[None]:
    """A slot of this viewer until the block ends. Raises TooManyComparisons."""
    key = frozenset(workspace_ids)
    with _changed:
        viewer = _viewers.setdefault(key, _Viewer())
        _wait_for_slot(viewer)
        viewer.running += 1
    try:
        yield
    finally:
        with _changed:
            viewer.running -= 1
            if not (viewer.running or viewer.waiting):
                del _viewers[key]
            _changed.notify_all()


def _wait_for_slot(viewer: _Viewer) -> None:
    if viewer.running < RUNNING:
        return
    if viewer.waiting >= WAITING:
        raise TooManyComparisons
    viewer.waiting += 1
    try:
        if not _changed.wait_for(lambda: viewer.running < RUNNING, timeout=PATIENCE_S):
            raise TooManyComparisons
    finally:
        viewer.waiting -= 1
