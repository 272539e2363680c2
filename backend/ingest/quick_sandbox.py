"""The sandbox for a page that waits: little time and space, one reading at a time."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from backend.ingest.child import Limits
from backend.ingest.sandbox import LocalArtefact, ParserFailed, Sandbox, current_limits, sandbox
from backend.ingest.slots import LONG_WORK, PAGES, Busy, OwnerBusy

# The worker reads one upload at a time; the threads of the web server take turns.
_turns = threading.Lock()
# Most readings take less; a reading may take twice its CPU time and 5 s. No page waits for that.
TURN_S = 10.0


class ParserBusy(ParserFailed):
    """Others keep the parser busy: the same request works later."""

    def __init__(self) -> None:
        super().__init__("The parser is busy. Try again in a minute.")


@dataclass(frozen=True, slots=True)
class QuickLimits:
    """What one reading may use where a page waits for it."""

    cpu_s: int
    unpacked_bytes: int

    def within(self, left_s: float) -> QuickLimits:
        """No more CPU time than is left of a budget, but a second at least."""
        return replace(self, cpu_s=max(1, min(self.cpu_s, math.ceil(left_s))))

    def lower(self, usual: Limits) -> Limits:
        """The smaller of each limit: that of the installation, `usual`, or this one."""
        return replace(
            usual,
            cpu_s=min(self.cpu_s, usual.cpu_s),
            decompressed_bytes=min(self.unpacked_bytes, usual.decompressed_bytes),
        )


QUICK = QuickLimits(cpu_s=8, unpacked_bytes=64 << 20)


@dataclass(frozen=True, slots=True)
class QuickSandbox:
    """The sandbox with the limits of a page; each reading waits for its turn.

    Raises ParserBusy where that does not come.
    """

    child: Sandbox
    limits: Limits

    def read(
        self,
        artefacts: Sequence[LocalArtefact],
        *,
        tool: str = "",
        quick: QuickLimits | None = None,
    ) -> dict[str, Any]:
        """As `Sandbox.read`. `quick`: less than the limits of a page."""
        limits = quick.lower(self.limits) if quick else self.limits
        with _turn():
            return self.child.read(artefacts, tool=tool, limits=limits)

    def trace(self, artefacts: Sequence[LocalArtefact], *, entry: int) -> dict[str, Any]:
        """As `Sandbox.trace`."""
        with _turn():
            return self.child.trace(artefacts, tool="", entry=entry, limits=self.limits)


@contextmanager
def _turn() -> Iterator[None]:
    if not _turns.acquire(timeout=TURN_S):
        raise ParserBusy
    try:
        yield
    finally:
        _turns.release()


@contextmanager
def quick_sandbox(quick: QuickLimits = QUICK) -> Iterator[QuickSandbox]:
    """The sandbox for a page that waits, with little time and space.

    Raises ParserBusy when others keep it busy.
    """
    with contextlib.ExitStack() as slot:
        try:
            slot.enter_context(LONG_WORK.take(PAGES))
        except (Busy, OwnerBusy):
            raise ParserBusy from None
        yield QuickSandbox(sandbox(), quick.lower(current_limits()))
