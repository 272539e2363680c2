"""A worker's part: claim after claim, each ended or given back whatever happens.

Each worker process looks for work by itself, so that a lost hint or broker costs seconds. The look
is one query by the database's clock: neither the broker nor the clock of this machine has a part
in it. It happens in a thread of the worker's process, beside the one that follows hints.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any
from uuid import UUID

from django.db import transaction

from backend import counters, log_context
from backend.ingest.models import State
from backend.ingest.queue import queue
from backend.ingest.queue.batches import Batch, read_batch, record_batch
from backend.ingest.queue.claims import claim_due
from backend.ingest.queue.outcomes import settle
from backend.ingest.queue.process import read_and_record
from backend.ingest.queue.watching import watch
from backend.ingest.receiving import hints
from backend.ingest.receiving.incoming import IncomingFile
from backend.ingest.receiving.receive import Receipt, Sender, receive
from backend.untrusted.sandbox.sandbox import sandbox

log = logging.getLogger(__name__)

# After so long a worker ends its task, so that Celery can replace or stop it.
SHIFT_S = 30.0
# A worker process reads one upload at a time, whether a hint or its own look found it.
READING = threading.Lock()


def drain(*, is_stopping: Callable[[], bool] = lambda: False) -> None:
    """Read what is due, by turns, until nothing is, the shift is over or `is_stopping`."""
    with READING:
        hints.hint_arrived()
        queue.requeue_abandoned()
        ends = time.monotonic() + SHIFT_S
        is_first = True
        while not is_stopping() and (groups := claim_due()):
            # Where there was one there may be more, for another worker.
            if is_first:
                hints.hint()
            is_first = False
            for place, claims in enumerate(groups, start=1):
                _work_on_all(claims, _lease_of(groups[place:]))
                sandbox().drop_spare()
            if time.monotonic() > ends:
                hints.hint()
                return


def process(upload_id: UUID) -> None:
    """Read this upload if it is due, in both lanes where it must."""
    queue.requeue_abandoned()
    held = queue.claim_one(upload_id)
    if held is not None and not _work_on(held):
        process(upload_id)


def receive_and_read(
    sender: Sender, files: Sequence[IncomingFile], envelope: Mapping[str, Any]
) -> Receipt:
    """Store an upload and read it here: no other worker sees it before it is read.

    Raises as `receive`. What stopped the reading is in the upload's row.
    """
    with transaction.atomic():
        receipt = receive(replace(sender, is_reader=True), files, raw_envelope=envelope)
        held = queue.claim_one(receipt.upload.pk)
    if held is not None:
        _work_on(held)
    return receipt


def _lease_of(groups: Sequence[Sequence[queue.Claim]]) -> queue.Lease | None:
    return queue.Lease(*chain.from_iterable(groups)) if groups else None


def _work_on_all(claims: Sequence[queue.Claim], beside: queue.Lease | None = None) -> None:
    """Read them together. Where that fails, each alone: so it fails for the upload at fault.

    `beside` is kept meanwhile: the claims of other workspaces, whose turn is next.
    """
    if len(claims) == 1:
        _work_on(claims[0], beside)
        return
    batch = _read_together(claims, beside)
    if batch is None:
        _work_on_each(claims, beside)
        return
    if not _record_together(batch):
        _work_on_each([member.held for member, _ in batch.readings], beside)
    queue.unclaim(batch.unread)
    for held, fault in batch.refused:
        settle(held, fault)


def _read_together(claims: Sequence[queue.Claim], beside: queue.Lease | None) -> Batch | None:
    log.info("uploads_claimed", extra={"uploads": len(claims)})
    try:
        return read_batch(claims, meanwhile=watch(claims, beside))
    except Exception:
        log.warning("not_read_together", extra={"uploads": len(claims)}, exc_info=True)
        return None


def _record_together(batch: Batch) -> bool:
    started = time.monotonic()
    try:
        _count_read(record_batch(batch.readings), time.monotonic() - started + batch.read_s)
    except Exception:
        uploads = len(batch.readings)
        log.warning("not_recorded_together", extra={"uploads": uploads}, exc_info=True)
        return False
    return True


def _work_on_each(claims: Sequence[queue.Claim], beside: queue.Lease | None) -> None:
    for held in claims:
        _work_on(held, beside)


def _work_on(held: queue.Claim, beside: queue.Lease | None = None) -> bool:
    """Read one upload. False where it was too slow and is left to the slow lane."""
    with log_context.bound(upload=str(held.upload_id)):
        log.info("upload_claimed", extra={"attempt": held.attempt})
        started = time.monotonic()
        if held.attempt > 1:
            # In a new parser, what is measured is the memory that this upload needs.
            sandbox().close()
        try:
            read_and_record(held, meanwhile=watch([held], beside))
        except Exception as fault:
            return settle(held, fault)
        _count_read(1, time.monotonic() - started)
        return True


def _count_read(uploads: int, seconds: float) -> None:
    """Count uploads that were read together within `seconds`."""
    counters.count("uploads_ended", State.PARSED, by=uploads)
    for _ in range(uploads):
        counters.observe("read_seconds", seconds)


def read_due(is_stopping: Callable[[], bool]) -> None:
    # Where a hint is being followed, that work is done already.
    if not READING.locked():
        drain(is_stopping=is_stopping)
