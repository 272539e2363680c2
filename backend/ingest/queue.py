"""The row is the queue: claiming, finishing and sweeping upload rows.

A claim is one compare-and-set by the database's own clock. It counts the attempt before the work
starts and raises the fence, so that a worker whose lease ran out can no longer write. A passing
fault (storage or database away) gives the attempt back and waits, each time longer. Hints
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
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from backend.ingest.models import State, Upload

log = logging.getLogger(__name__)

PROCESS_TASK = "ingest.process"
SWEEP_BATCH = 500
# Any number: the key under which one sweeper at a time works.
SWEEP_LOCK = 7_316_201
QUIET_AFTER_BROKER_ERROR_S = 5.0
FIRST_PAUSE_S = 15
LONGEST_PAUSE_S = 900
# How a database shows that is away, cut off in mid-work, or too busy to answer in time.
DatabaseGone = (OperationalError, InterfaceError)


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to work on an upload until the lease ends."""

    upload_id: UUID
    fence: int
    attempt: int
    faults: int


class ClaimLost(Exception):
    """Another worker took the upload over; this one's result is dropped."""


def due() -> Q:
    """Rows nobody works on: received, or parsing by a worker whose lease ran out."""
    waited = Q(retry_at=None) | Q(retry_at__lt=Now())
    return Q(state=State.RECEIVED) & waited | Q(state=State.PARSING, lease_until__lt=Now())


def claim(upload_id: UUID) -> Claim | None:
    """Take the upload if it is due; None when there is nothing to do."""
    _give_back_owed()
    quarantine_spent(Q(pk=upload_id))
    # One transaction: a claim that is lost on the way back was never made.
    with transaction.atomic():
        changed = Upload.objects.filter(due(), pk=upload_id).update(
            state=State.PARSING,
            attempts=F("attempts") + 1,
            fence=F("fence") + 1,
            lease_until=Now() + timedelta(seconds=settings.LEASE_S),
        )
        if changed != 1:
            return None
        row = Upload.objects.values_list("fence", "attempts", "faults").get(pk=upload_id)
    return Claim(upload_id, *row)


# Of a lease: how old it may get while its holder still works.
RENEW_AFTER_SHARE = 0.1


class Lease:
    """A claim kept alive by its holder: an upload of many trials takes longer than one lease."""

    def __init__(self, held: Claim) -> None:
        self.held = held
        self.renewed = time.monotonic()

    def renew(self) -> None:
        """To be called before each trial and while one is read; raises ClaimLost."""
        if time.monotonic() - self.renewed < settings.LEASE_S * RENEW_AFTER_SHARE:
            return
        held = self.held
        rows = Upload.objects.filter(pk=held.upload_id, state=State.PARSING, fence=held.fence)
        if rows.update(lease_until=Now() + timedelta(seconds=settings.LEASE_S)) != 1:
            raise ClaimLost(str(held.upload_id))
        self.renewed = time.monotonic()


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


def release(held: Claim) -> None:
    """Give the upload back after a fault nobody foresaw. The attempt stays counted."""
    rows = Upload.objects.filter(pk=held.upload_id, state=State.PARSING, fence=held.fence)
    rows.update(lease_until=Now() + timedelta(seconds=settings.SWEEP_INTERVAL_S))


def reopen(upload_id: UUID) -> bool:
    """Make an upload that could not be read due again; whether it was one."""
    rows = Upload.objects.filter(pk=upload_id, state__in=[State.FAILED, State.QUARANTINED])
    changed = rows.update(state=State.RECEIVED, attempts=0, finished_at=None, reason="")
    return changed == 1


# Claims of this process that could not be given back, because the database itself was away.
_owed: dict[Claim, str] = {}


def postpone(held: Claim, *, reason: str) -> None:
    """Give the upload back after a passing fault, to be tried again after a growing pause.

    Never raises: with the database away it is done before this process's next claim.
    """
    _owed[held] = reason
    if connection.errors_occurred and not connection.is_usable():
        connection.close()  # a broken one would refuse for the rest of the task
    try:
        _give_back_owed()
    except DatabaseGone:
        log.warning("upload_not_given_back", extra={"upload": str(held.upload_id)})


def _give_back_owed() -> None:
    for held, reason in list(_owed.items()):
        rows = Upload.objects.filter(pk=held.upload_id, state=State.PARSING, fence=held.fence)
        rows.update(
            state=State.RECEIVED,
            reason=reason,
            attempts=F("attempts") - 1,
            faults=F("faults") + 1,
            lease_until=None,
            retry_at=Now() + pause_after(held.faults),
        )
        del _owed[held]


def pause_after(faults: int) -> timedelta:
    """How long to wait after so many passing faults before: doubling, at most a quarter hour."""
    return timedelta(seconds=min(FIRST_PAUSE_S * 2 ** min(faults, 10), LONGEST_PAUSE_S))


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
        forgotten = Q(state=State.RECEIVED, retry_at=None) & stale
        # Once per pause: what was sent since it became due is under way.
        waited = Q(state=State.RECEIVED, retry_at__lt=Now()) & (
            Q(dispatched_at__lt=F("retry_at")) | stale
        )
        abandoned = Q(state=State.PARSING, lease_until__lt=Now())
        ids = list(
            Upload.objects.filter(forgotten | waited | abandoned)
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
