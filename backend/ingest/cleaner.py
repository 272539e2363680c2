"""The parent's side of the child that takes secrets out of files."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from backend.errors import Away
from backend.ingest.limits import search_memory_bytes
from backend.ingest.rewriting import CannotClean, TooLargeToClean
from backend.ingest.sandbox import (
    USUAL_PATIENCE,
    ParserFailed,
    ParserInterrupted,
    Sandbox,
    current_limits,
)
from backend.ingest.slots import LONG_WORK, NOBODYS, short_or_long

# A mark may be longer than the secret it stands for.
GROWTH = 3
# A megabyte of the worst text takes half a second.
SHORT_CPU_S = 10
NICENESS = 10
# As USUAL_PATIENCE, of a child that others go before.
NICE_PATIENCE = 4


@dataclass(frozen=True, slots=True)
class Work:
    """Whose file is searched, and whether it is so small that this cannot take long."""

    workspace_id: UUID | None = None
    is_short: bool = False


class CleanerInterrupted(Away):
    """The child was ended from outside. The same request works later."""

    def __init__(self) -> None:
        super().__init__("The search for secrets was interrupted.")


class Cleaner:
    """One child at a time; a dead one is replaced at the next request.

    What may take minutes goes behind requests and beside the readers, which are as nice.
    """

    def __init__(self, *, is_short: bool = False) -> None:
        command = [sys.executable, "-m", "backend.ingest.clean_child"]
        if not is_short:
            command.append(f"--nice={NICENESS}")
        patience = USUAL_PATIENCE if is_short else NICE_PATIENCE
        self._child = Sandbox(command, patience=patience)
        self._pid = os.getpid()
        self.is_short = is_short
        atexit.register(self.close)

    @property
    def is_ours(self) -> bool:
        """After a fork the parent's child is not ours to talk to."""
        return self._pid == os.getpid()

    def clean_file(self, source: Path, target: Path) -> bool:
        """Whether the file held a secret; `target` then holds it without.

        Raises CannotClean and CleanerInterrupted.
        """
        answer = self._ask({"source": str(source), "target": str(target)})
        return bool(answer["changed"])

    def clean_json(self, value: Any) -> Any:
        """JSON without secrets. Raises as `clean_file` does."""
        return self._ask({"json": value})["json"]

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        usual = current_limits()
        limits = replace(
            usual,
            cpu_s=min(SHORT_CPU_S, usual.cpu_s) if self.is_short else usual.cpu_s,
            memory_bytes=search_memory_bytes(),
            file_bytes=GROWTH * settings.UPLOAD_MAX_BYTES,
        )
        try:
            answer = self._child.request([], request, limits)
        except ParserInterrupted:
            raise CleanerInterrupted from None
        except ParserFailed:
            raise TooLargeToClean(
                "The search for secrets in a file stopped: it needed more than "
                f"{limits.cpu_s} s of CPU time or {limits.memory_bytes >> 20} MiB of memory."
            ) from None
        if "refused" in answer:
            kind = TooLargeToClean if answer["is_too_large"] else CannotClean
            raise kind(answer["refused"])
        return answer

    def close(self) -> None:
        if self.is_ours:
            self._child.close()


# By whether they do short work.
_idle: dict[bool, list[Cleaner]] = {True: [], False: []}
_lock = threading.Lock()


@contextmanager
def cleaner(work: Work = Work()) -> Iterator[Cleaner]:
    """A child for the thread that asks, while it has a turn. Raises Busy and OwnerBusy."""
    owner = work.workspace_id or NOBODYS
    with short_or_long(owner) if work.is_short else LONG_WORK.take(owner):
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
