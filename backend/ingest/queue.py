"""The row is the queue: claiming, finishing and sweeping upload rows.

A claim is one compare-and-set by the database's own clock. It counts the attempt before the work
starts and raises the fence, so that a worker whose lease ran out can no longer write. Hints
through the broker may be lost, doubled or forged: `sweep` sends them again, and a claim that
finds nothing due does nothing.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from backend.ingest.models import State, Upload

log = logging.getLogger(__name__)

PROCESS_TASK = "ingest.process"
SWEEP_BATCH = 500
# Any number: the key under which one sweeper at a time works.
SWEEP_LOCK = 7_316_201
QUIET_AFTER_BROKER_ERROR_S = 5.0


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to work on an upload until the lease ends."""

    upload_id: UUID
    fence: int
    attempt: int


class ClaimLost(Exception):
    """Another worker took the upload over; this one's result is dropped."""


def due() -> Q:
    """Rows nobody works on: received, or parsing by a worker whose lease ran out."""
    return Q(state=State.RECEIVED) | Q(state=State.PARSING, lease_until__lt=Now())


def claim(upload_id: UUID) -> Claim | None:
    """Take the upload if it is due; None when there is nothing to do."""
    quarantine_spent(Q(pk=upload_id))
    changed = Upload.objects.filter(due(), pk=upload_id).update(
        state=State.PARSING,
        attempts=F("attempts") + 1,
        fence=F("fence") + 1,
        lease_until=Now() + timedelta(seconds=settings.LEASE_S),
    )
    if changed != 1:
        return None
    fence, attempt = Upload.objects.values_list("fence", "attempts").get(pk=upload_id)
    return Claim(upload_id, fence, attempt)


def quarantine_spent(which: Q | None = None) -> int:
    """Set aside uploads whose attempts are used up: their reading killed the worker each time."""
    spent = Upload.objects.filter(due(), which or Q(), attempts__gte=settings.MAX_ATTEMPTS)
    return spent.update(
        state=State.QUARANTINED,
        finished_at=Now(),
        lease_until=None,
        reason=(
            f"Reading this upload stopped the worker {settings.MAX_ATTEMPTS} times. The raw "
            "files are kept; it will not be tried again by itself."
        ),
    )


def lock_claimed(held: Claim) -> Upload:
    """The claimed row, locked for the rest of the transaction; raises ClaimLost."""
    upload = (
        Upload.objects.select_for_update()
        .filter(pk=held.upload_id, state=State.PARSING, fence=held.fence)
        .first()
    )
    if upload is None:
        raise ClaimLost(str(held.upload_id))
    return upload


def finish(held: Claim, state: State, *, reason: str = "", **fields: object) -> bool:
    """End the upload if the claim still holds; whether it did."""
    rows = Upload.objects.filter(pk=held.upload_id, state=State.PARSING, fence=held.fence)
    changed = rows.update(state=state, reason=reason, finished_at=Now(), lease_until=None, **fields)
    return changed == 1


def renew(held: Claim) -> None:
    """Hold the upload for another lease: its reading goes on."""
    rows = Upload.objects.filter(pk=held.upload_id, state=State.PARSING, fence=held.fence)
    if rows.update(lease_until=Now() + timedelta(seconds=settings.LEASE_S)) != 1:
        raise ClaimLost(str(held.upload_id))


def release(held: Claim) -> None:
    """Give the upload back after a passing fault (the database, the storage): try again later."""
    rows = Upload.objects.filter(pk=held.upload_id, state=State.PARSING, fence=held.fence)
    rows.update(lease_until=Now() + timedelta(seconds=settings.SWEEP_INTERVAL_S))


def reopen(upload_id: UUID) -> bool:
    """Make an upload that could not be read due again; whether it was one."""
    rows = Upload.objects.filter(pk=upload_id, state__in=[State.FAILED, State.QUARANTINED])
    changed = rows.update(state=State.RECEIVED, attempts=0, finished_at=None, reason="")
    return changed == 1


_quiet_until = 0.0


def hint(upload_id: UUID) -> None:
    """Tell the workers that a row is due. Never raises: the sweeper is the promise."""
    global _quiet_until  # noqa: PLW0603  one broker, one process-wide memory of its last failure
    if time.monotonic() < _quiet_until:
        return
    try:
        current_app.send_task(PROCESS_TASK, args=[str(upload_id)], retry=False)
    except Exception:  # the broker is disposable
        _quiet_until = time.monotonic() + QUIET_AFTER_BROKER_ERROR_S
        log.warning("hint_not_sent", extra={"upload": str(upload_id)}, exc_info=True)


def sweep() -> int:
    """Send hints again for what is due; how many. One sweeper works at a time."""
    with transaction.atomic():
        if not _only_sweeper():
            return 0
        quarantine_spent()
        stale = Q(dispatched_at__lt=Now() - timedelta(seconds=settings.DISPATCH_AFTER_S))
        forgotten = Q(state=State.RECEIVED) & stale
        abandoned = Q(state=State.PARSING, lease_until__lt=Now())
        ids = list(
            Upload.objects.filter(forgotten | abandoned)
            .order_by("dispatched_at")
            .values_list("pk", flat=True)[:SWEEP_BATCH]
        )
        Upload.objects.filter(pk__in=ids).update(dispatched_at=Now())
    for upload_id in ids:
        hint(upload_id)
    return len(ids)


def _only_sweeper() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [SWEEP_LOCK])
        return bool(cursor.fetchone()[0])
