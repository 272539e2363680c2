"""The row is the queue: claiming, finishing and sweeping upload rows.

A claim is one compare-and-set by the database's own clock. It counts the attempt before the work
starts and raises the fence, so that a worker whose lease ran out can no longer write. A passing
fault (storage or database away) gives the attempt back and waits, each time longer. A hint
through the broker wakes a worker, which then claims row after row until nothing is due. Hints may
be lost, doubled or forged: `sweep` sends them again, and a worker that finds nothing due sleeps.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from redis import Redis

from backend.ingest.models import State, Upload

log = logging.getLogger(__name__)

DRAIN_TASK = "ingest.drain"
# Stands in the broker while a hint is on its way. It ends by itself, for hints can get lost.
HINTED_KEY = "loadsheet:hinted"
HINTED_S = 2
QUIET_AFTER_BROKER_ERROR_S = 5.0
BROKER_TIMEOUT_S = 0.5
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


def claim(upload_id: UUID | None = None) -> Claim | None:
    """Take this upload, or without an id the one that waits longest; None when nothing is due."""
    _give_back_owed()
    rows = Upload.objects.filter(due()) if upload_id is None else _only(upload_id)
    # One transaction: a claim that is lost on the way back was never made.
    with transaction.atomic():
        # Rows that others are taking this moment are theirs.
        waiting = rows.order_by("received_at").select_for_update(skip_locked=True)
        while (upload := waiting.only(*_CLAIMED).first()) is not None:
            if upload.attempts < settings.MAX_ATTEMPTS:
                return _take(upload)
            _quarantine(upload)
    return None


_CLAIMED = ("attempts", "fence", "faults")


def _only(upload_id: UUID) -> QuerySet[Upload]:
    return Upload.objects.filter(due(), pk=upload_id)


def _take(upload: Upload) -> Claim:
    held = Claim(upload.pk, upload.fence + 1, upload.attempts + 1, upload.faults)
    Upload.objects.filter(pk=upload.pk).update(
        state=State.PARSING,
        attempts=held.attempt,
        fence=held.fence,
        lease_until=Now() + timedelta(seconds=settings.LEASE_S),
    )
    return held


def _quarantine(upload: Upload) -> None:
    """Set an upload aside whose attempts are used up: reading it killed the worker each time."""
    Upload.objects.filter(pk=upload.pk).update(
        state=State.QUARANTINED,
        finished_at=Now(),
        lease_until=None,
        reason=(
            f"Reading this upload stopped the worker {settings.MAX_ATTEMPTS} times. The raw "
            "files are kept; it will not be tried again by itself."
        ),
    )


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


def hint() -> None:
    """Wake a worker, unless a hint is on its way already. Never raises: the sweeper is the promise.

    To be called after the commit of what is due. Whoever follows the hint takes the key away
    before looking for rows, so one that was committed while the key stood is found.
    """
    _tell_broker(_hint_once)


def _hint_once(broker: Redis) -> None:
    if broker.set(HINTED_KEY, 1, nx=True, ex=HINTED_S):
        _send_hint()


def hint_arrived() -> None:
    """The next hint is to be sent: called before looking for what is due."""
    _tell_broker(lambda broker: broker.delete(HINTED_KEY))


def _send_hint() -> None:
    current_app.send_task(DRAIN_TASK, retry=False, expires=settings.SWEEP_INTERVAL_S)


def _tell_broker(what: Callable[[Redis], object]) -> None:
    global _quiet_until  # noqa: PLW0603  one broker, one process-wide memory of its last failure
    if time.monotonic() < _quiet_until:
        return
    try:
        what(_broker())
    except Exception:  # the broker is disposable
        _quiet_until = time.monotonic() + QUIET_AFTER_BROKER_ERROR_S
        log.warning("hint_not_sent", exc_info=True)


@lru_cache(maxsize=1)
def _broker() -> Redis:
    return Redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=BROKER_TIMEOUT_S, socket_timeout=BROKER_TIMEOUT_S
    )


def sweep() -> int:
    """Send a hint again where something is due; how many rows are."""
    count = Upload.objects.filter(due()).count()
    if count:
        _tell_broker(lambda _: _send_hint())
    return count
