"""How a reading that did not succeed ends: the upload fails, waits, or is tried again.

Decision 0019 has the table.
"""

import logging

from django.conf import settings

from backend import counters
from backend.database_faults import is_database_away, is_database_busy, is_overtaken
from backend.errors import WorkFailed
from backend.formats import PARSER_VERSION
from backend.ingest.models import State
from backend.ingest.queue import queue
from backend.ingest.reading.reading import NothingRead
from backend.runs.recording.refusals import RunElsewhere, RunTooLarge
from backend.storage import StorageAway
from backend.untrusted.sandbox.parser_failures import (
    MemoryUsedUp,
    ParserDied,
    ParserFailed,
    ParserInterrupted,
)

log = logging.getLogger(__name__)

MORE_MEMORY = (
    "Send its results as several smaller uploads, or ask the operator for more memory: of the "
    "worker, and PARSE_MEMORY_BYTES, the limit of a parser."
)


class OutOfTime(WorkFailed):
    """The upload takes longer than its lane gives it."""


def settle(held: queue.Claim, fault: Exception) -> bool:
    """End an upload that could not be read, or give it back after a passing fault.

    False where it was too slow and is left to the slow lane.
    """
    if isinstance(fault, OutOfTime):
        return _out_of_time(held)
    if isinstance(fault, queue.ClaimLost):
        _log("claim_lost", held)
    elif isinstance(fault, ParserInterrupted):
        _log("parser_interrupted", held, fault)
        queue.postpone(held, str(fault))
    elif isinstance(fault, ParserDied):
        _count_death(held, fault)
    elif isinstance(fault, MemoryUsedUp):
        _fail(held, f"{fault} {MORE_MEMORY}")
    elif isinstance(fault, NothingRead | ParserFailed | RunTooLarge):
        _fail(held, str(fault))
    elif isinstance(fault, RunElsewhere):
        _fail(held, f"{fault} Use a new id.")
    else:
        _give_back(held, fault)
    return True


def _log(event: str, held: queue.Claim, fault: Exception | None = None) -> None:
    log.warning(
        event, extra={"upload": str(held.upload_id), "reason": str(fault or "")}, exc_info=fault
    )


def _fail(held: queue.Claim, reason: str) -> None:
    counters.count("uploads_ended", State.FAILED)
    queue.finish(held, State.FAILED, reason=reason, parser_version=PARSER_VERSION)


def _out_of_time(held: queue.Claim) -> bool:
    """Whether it is ended."""
    if held.is_slow:
        _fail(held, f"Reading this upload took longer than {settings.SLOW_READ_S} s.")
    else:
        log.info("upload_is_slow", extra={"upload": str(held.upload_id)})
        queue.unclaim([held], is_slow=True)  # no attempt is counted
    return held.is_slow


def _count_death(held: queue.Claim, death: ParserDied) -> None:
    """A crash or a kill may be the upload's doing: some attempts are made."""
    _log("parser_died", held, death)
    if held.is_last:
        advice = f" {MORE_MEMORY}" if death.death.is_kill else ""
        times = f"This was attempt {held.attempt}, the last."
        _fail(held, f"{death} {times} The raw files are kept.{advice}")
    else:
        queue.release(held, reason=str(death))


def _give_back(held: queue.Claim, fault: Exception) -> None:
    away = _what_was_away(fault)
    if away:
        _log("upload_postponed", held, fault)
        queue.postpone(held, away)
    else:
        log.error("upload_not_processed", extra={"upload": str(held.upload_id)}, exc_info=fault)
        queue.release(held, reason=_what_happened(fault))


def _what_happened(fault: Exception) -> str:
    """A sentence about a fault that counts as an attempt."""
    if is_database_busy(fault):
        return f"The database did not finish writing this upload ({_words_of(fault)})."
    kind = type(fault).__name__
    return f"A fault of Loadsheet stopped the reading of this upload ({kind})."


def _what_was_away(fault: Exception) -> str:
    """A sentence about the passing fault; empty if it is not one."""
    if isinstance(fault, FileNotFoundError):
        # A volume that is not mounted looks just so.
        return "A stored file of this upload is missing. Is the storage mounted?"
    if isinstance(fault, StorageAway):
        away = "The storage was not available"
    elif isinstance(fault, OSError):
        away = "The machine could not start the parser"
    elif is_database_away(fault):
        away = "The database was not available"
    elif is_overtaken(fault):
        away = "Another change of the workspace came first"
    else:
        return ""
    return f"{away} ({_words_of(fault)})."


def _words_of(fault: Exception) -> str:
    return " ".join(str(fault).split())[:300].rstrip(".")
