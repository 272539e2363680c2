"""A worker's part: claim after claim, each ended or given back whatever happens."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from uuid import UUID

from django.conf import settings

from backend.errors import WorkFailed
from backend.formats import PARSER_VERSION
from backend.ingest import queue
from backend.ingest.budget import Budget
from backend.ingest.faults import is_database_away
from backend.ingest.models import State
from backend.ingest.process import NothingRead, read_and_record
from backend.ingest.queue import Fault
from backend.ingest.sandbox import ParserDied, ParserFailed, ParserInterrupted, sandbox
from backend.ingest.storage import StorageAway
from backend.runs.record import RunElsewhere

log = logging.getLogger(__name__)

# After so long a worker ends its task, so that Celery can replace or stop it.
SHIFT_S = 30.0
# A worker process reads one upload at a time, whether a hint or its own look found it.
READING = threading.Lock()


class OutOfTime(WorkFailed):
    """The upload takes longer than its lane gives it."""


def drain(*, is_stopping: Callable[[], bool] = lambda: False) -> None:
    """Read what is due, by turns, until nothing is, the shift is over or `is_stopping`."""
    with READING:
        queue.hint_arrived()
        queue.requeue_abandoned()
        ends = time.monotonic() + SHIFT_S
        is_first = True
        while not is_stopping() and (held := queue.claim()) is not None:
            # Where there was one there may be more, for another worker.
            if is_first:
                queue.hint()
            is_first = False
            _work_on(held)
            if time.monotonic() > ends:
                queue.hint()
                return


def process(upload_id: UUID) -> None:
    """Read this upload if it is due, in both lanes where it must."""
    queue.requeue_abandoned()
    held = queue.claim_one(upload_id)
    if held is not None and not _work_on(held):
        process(upload_id)


def _work_on(held: queue.Claim) -> bool:
    """A bad upload ends as failed; a passing fault is tried again.

    False where the upload was too slow and is left to the slow lane.
    """
    log.info("upload_claimed", extra={"upload": str(held.upload_id), "attempt": held.attempt})
    try:
        read_and_record(held, meanwhile=_watch(held))
    except queue.ClaimLost:
        log.warning("claim_lost", extra={"upload": str(held.upload_id)})
    except OutOfTime:
        _out_of_time(held)
        return held.is_slow
    except ParserInterrupted as death:
        log.warning("parser_interrupted", extra={"upload": str(held.upload_id)}, exc_info=True)
        queue.postpone(held, Fault(str(death), is_death=True))
    except ParserDied as death:
        _count_death(held, death)
    except (NothingRead, ParserFailed) as refused:
        _fail(held, str(refused))
    except RunElsewhere as refusal:
        _fail(held, f"{refusal} Use a new id.")
    except Exception as fault:
        _give_back(held, fault)
    return True


def _fail(held: queue.Claim, reason: str) -> None:
    queue.finish(held, State.FAILED, reason=reason, parser_version=PARSER_VERSION)


def _out_of_time(held: queue.Claim) -> None:
    if held.is_slow:
        _fail(held, f"Reading this upload took longer than {settings.SLOW_READ_S} s.")
    else:
        log.info("upload_is_slow", extra={"upload": str(held.upload_id)})
        queue.make_slow(held)


def _count_death(held: queue.Claim, death: ParserDied) -> None:
    """A crash, or a kill for lack of memory, may be the upload's doing: some attempts are made."""
    log.warning(
        "parser_died", extra={"upload": str(held.upload_id), "reason": str(death)}, exc_info=True
    )
    if held.is_last:
        _fail(held, f"{death} This happened {held.attempt} times. The raw files are kept.")
    else:
        queue.release(held, reason=str(death))


def _give_back(held: queue.Claim, fault: Exception) -> None:
    away = _what_was_away(fault)
    if away:
        log.warning("upload_postponed", extra={"upload": str(held.upload_id)}, exc_info=True)
        queue.postpone(held, Fault(away))
    else:
        log.exception("upload_not_processed", extra={"upload": str(held.upload_id)})
        kind = type(fault).__name__
        queue.release(
            held, reason=f"A fault of Loadsheet stopped the reading of this upload ({kind})."
        )


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
    else:
        return ""
    answer = " ".join(str(fault).split())[:300].rstrip(".")
    return f"{away} ({answer})."


def _watch(held: queue.Claim) -> Callable[[], None]:
    """To be called while the upload is read: keeps the claim; raises ClaimLost and OutOfTime.

    Raises ParserFailed itself where no parser can be started.
    """
    lease = queue.Lease(held)
    # The start of a parser is not the upload's time: the last upload may have ended the parser.
    sandbox().prepare(lease.renew)
    budget = Budget(is_slow=held.is_slow)

    def meanwhile() -> None:
        lease.renew()
        if budget.is_spent:
            raise OutOfTime(str(held.upload_id))

    return meanwhile
