"""The parent's side of the child that takes secrets out of files."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from backend.errors import Away
from backend.ingest.child import Limits
from backend.ingest.deaths import Death, as_mib
from backend.ingest.json_pieces import STORED_LEVELS, decode
from backend.ingest.limits import search_memory_bytes
from backend.ingest.parser_failures import (
    CpuUsedUp,
    MemoryUsedUp,
    ParserDied,
    ParserFailed,
    ParserFaulty,
    ParserInterrupted,
    ParserSlow,
)
from backend.ingest.quick_sandbox import QuickLimits
from backend.ingest.rewriting import CannotClean, TooLargeToClean
from backend.ingest.sandbox import USUAL_PATIENCE, Sandbox, current_limits
from backend.ingest.slots import LONG_WORK, NOBODYS, PREVIEWS, short_or_long

log = logging.getLogger(__name__)

# A mark may be longer than the secret it stands for.
GROWTH = 3
# A megabyte of the worst text takes half a second.
SHORT_CPU_S = 10
NICENESS = 10
# As USUAL_PATIENCE, of a child that others go before.
NICE_PATIENCE = 4
# Of one request, where its child crashes or is killed: that may be our fault, or the machine's.
ATTEMPTS = 3
OF_A_PREVIEW = "the limit of a preview"
SEARCH = "The search for secrets in a file"


@dataclass(frozen=True, slots=True)
class Work:
    """Whose file is searched, and whether it is so small that this cannot take long."""

    workspace_id: UUID | None = None
    is_short: bool = False


class CleanerInterrupted(Away):
    """The child had no time to read it, or no processor. The same request works later."""

    def __init__(self, sentence: str = "The search for secrets was interrupted.") -> None:
        super().__init__(sentence)


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

    def clean_file(self, source: Path, target: Path, quick: QuickLimits | None = None) -> bool:
        """Whether the file held a secret; `target` then holds it without.

        `quick`: the limits of a preview. Raises CannotClean and CleanerInterrupted.
        """
        answer = self._ask({"source": str(source), "target": str(target)}, quick)
        return bool(answer["changed"])

    def clean_json(self, value: Any) -> Any:
        """JSON without secrets. Raises as `clean_file` does."""
        cleaned: str | None = self._ask({"json": value})["json"]
        return value if cleaned is None else decode(cleaned.encode(), levels=STORED_LEVELS)

    def _ask(self, request: dict[str, Any], quick: QuickLimits | None = None) -> dict[str, Any]:
        usual = current_limits()
        limits = replace(
            usual,
            cpu_s=min(SHORT_CPU_S, usual.cpu_s) if self.is_short else usual.cpu_s,
            memory_bytes=search_memory_bytes(),
            file_bytes=GROWTH * settings.UPLOAD_MAX_BYTES,
        )
        if quick is not None:
            limits = quick.lower(limits)
        try:
            answer = self._answer(request, limits)
        except ParserFailed as failed:
            raise _refusal_of(failed, limits, is_preview=quick is not None) from None
        if "refused" in answer:
            raise _refusal_in(answer, limits, is_preview=quick is not None)
        return answer

    def _answer(self, request: dict[str, Any], limits: Limits, attempt: int = 1) -> dict[str, Any]:
        try:
            return self._child.request([], request, limits)
        except ParserDied as died:
            log.warning("cleaner_died", extra={"reason": _sentence_of(died.death, limits)})
            if attempt == ATTEMPTS:
                raise
        return self._answer(request, limits, attempt + 1)

    def close(self) -> None:
        if self.is_ours:
            self._child.close()


def _refusal_in(answer: dict[str, Any], limits: Limits, *, is_preview: bool) -> CannotClean:
    """The refusal that the child answered."""
    if is_preview and answer["has_too_many_bytes"]:
        limit = f"{limits.decompressed_bytes:,} bytes, {OF_A_PREVIEW}"
        return TooLargeToClean(f"The file unpacks to more than {limit}.")
    kind = TooLargeToClean if answer["is_too_large"] else CannotClean
    return kind(answer["refused"])


def _refusal_of(
    failed: ParserFailed, limits: Limits, *, is_preview: bool
) -> CannotClean | CleanerInterrupted:
    """What the sender is told: only what the file itself caused refuses it as too large."""
    match failed:
        case ParserInterrupted():
            return CleanerInterrupted()
        case ParserSlow():
            return CleanerInterrupted("The search for secrets took too long on a busy machine.")
        case ParserFaulty():
            return CannotClean(
                "The search for secrets has a fault, and could not look through a file.",
                hint="Nothing was stored. Tell the operator: the fault is in the log.",
            )
        case ParserDied(death=death):
            kind = TooLargeToClean if death.is_kill else CannotClean
            return kind(f"{_sentence_of(death, limits)} This happened {ATTEMPTS} times.")
    needs = {
        CpuUsedUp: f"needed more than {limits.cpu_s} s of CPU time"
        + (f", {OF_A_PREVIEW}." if is_preview else "."),
        MemoryUsedUp: f"needed more than {as_mib(limits.memory_bytes)} of memory.",
    }
    return TooLargeToClean(f"{SEARCH} {needs.get(type(failed), f'was stopped. {failed}')}")


def _sentence_of(death: Death, limits: Limits) -> str:
    return f"{SEARCH} {death.how()}; {death.memory(limits.memory_bytes)}"


# By whether they do short work.
_idle: dict[bool, list[Cleaner]] = {True: [], False: []}
_lock = threading.Lock()


def _slot(work: Work) -> AbstractContextManager[None]:
    """The turn of this thread; a preview has had its own."""
    if PREVIEWS.are_held:
        return nullcontext()
    owner = work.workspace_id or NOBODYS
    return short_or_long(owner) if work.is_short else LONG_WORK.take(owner)


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
