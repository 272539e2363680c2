"""The sandbox for a page that waits: little time and space, and few readings at a time."""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from backend.untrusted.sandbox.child import Limits
from backend.untrusted.sandbox.fair_slots import Busy, OwnerBusy
from backend.untrusted.sandbox.parser_failures import ParserFailed
from backend.untrusted.sandbox.sandbox import LocalArtefact, Sandbox, current_limits
from backend.untrusted.sandbox.slots import PAGES, PREVIEWS

# Parsers that nobody uses now; as many as were used at once, which the slots of previews bound.
_idle: list[_Parser] = []
_lock = threading.Lock()


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
    """The sandbox with the limits of a page."""

    child: Sandbox
    limits: Limits

    def read(
        self,
        artefacts: Sequence[LocalArtefact],
        *,
        most: int,
        tool: str = "",
        quick: QuickLimits | None = None,
    ) -> dict[str, Any]:
        """As `Sandbox.read`, with at most so many trials and as many refusals, the first ones.

        `quick`: less than the limits of a page.
        """
        limits = quick.lower(self.limits) if quick else self.limits
        return self.child.request(artefacts, {"tool": tool, "most": most}, limits)

    def trace(self, artefacts: Sequence[LocalArtefact], *, entry: int) -> dict[str, Any]:
        """As `Sandbox.trace`."""
        return self.child.trace(artefacts, entry=entry, limits=self.limits)


@dataclass(frozen=True, slots=True)
class _Parser:
    """A sandbox of this process. After a fork the parent's child is not ours to talk to."""

    sandbox: Sandbox
    pid: int


@contextmanager
def _parser() -> Iterator[Sandbox]:
    """A sandbox that no other thread uses meanwhile."""
    with _lock:
        taken = _idle.pop() if _idle else None
    if taken is None or taken.pid != os.getpid():
        taken = _Parser(Sandbox(), os.getpid())
        atexit.register(_close, taken)
    try:
        yield taken.sandbox
    finally:
        with _lock:
            _idle.append(taken)


def _close(parser: _Parser) -> None:
    if parser.pid == os.getpid():
        parser.sandbox.close()


@contextmanager
def quick_sandbox(quick: QuickLimits = QUICK) -> Iterator[QuickSandbox]:
    """The sandbox for a page that waits, with little time and space.

    Raises ParserBusy when others keep it busy.
    """
    with contextlib.ExitStack() as slot:
        try:
            slot.enter_context(PREVIEWS.take(PAGES))
        except (Busy, OwnerBusy):
            raise ParserBusy from None
        child = slot.enter_context(_parser())
        yield QuickSandbox(child, quick.lower(current_limits()))
