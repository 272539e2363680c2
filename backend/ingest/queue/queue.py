"""The row is the queue: claiming, finishing and giving back upload rows.

A claim is made by the database's own clock. It raises the fence, so that a worker whose lease ran
out can no longer write. An attempt that a passing fault ended (storage or database away, the worker
killed) is not counted: the upload waits, each time longer, until its pauses are a day.
What wakes a worker is no part of this: hints (hints.py), and its own look (worker.py).
"""

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, reduce
from itertools import accumulate, count, takewhile
from operator import or_
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from backend import counters
from backend.database_faults import DatabaseGone
from backend.errors import WorkFailed
from backend.ingest.models import State, Upload

log = logging.getLogger(__name__)

FIRST_PAUSE_S = 5
LONGEST_PAUSE_S = 900
# An attempt lengthens the pauses as much as this number of passing faults: 5 s after the first
# attempt, more than 5 minutes after the second.
FAULTS_OF_AN_ATTEMPT = 6
# How long an upload is tried again after passing faults. This is the sum of its pauses, not a time
# by a clock: between two faults, an upload may wait behind others for a day.
PASSING_FAULTS_S = 24 * 3600
# From this fault on, an upload whose worker died is read in the slow lane: others keep a reader.
ALONE_FROM_FAULT = 3


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to work on an upload until the lease ends."""

    upload_id: UUID
    fence: int
    attempt: int
    faults: int
    is_slow: bool = False

    @property
    def is_last(self) -> bool:
        """Whether no attempt is left after this one."""
        return self.attempt >= settings.MAX_ATTEMPTS


WORKER_ENDED = "The worker stopped while it read this upload."


class ClaimLost(WorkFailed):
    """Another worker took the upload over; this one's result is dropped."""


def claim_one(upload_id: UUID) -> Claim | None:
    """Take this upload out of turn; None if it is not due."""
    give_back_owed()
    is_waited = Q(retry_at=None) | Q(retry_at__lte=Now()) | Q(retry_at__gt=_ahead(LONGEST_PAUSE_S))
    with transaction.atomic():
        rows = Upload.objects.filter(is_waited, pk=upload_id, state=State.RECEIVED)
        upload = rows.select_for_update(skip_locked=True).first()
        return None if upload is None else take([upload])[0]


def take(uploads: Sequence[Upload]) -> list[Claim]:
    """Claim uploads that are locked. Their leases end at one time, which no other claim has."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE ingest_upload SET state = 'parsing', attempts = attempts + 1, fence = fence + 1,
                lease_until = statement_timestamp() + make_interval(secs => %s)
            WHERE id = ANY(%s)
            """,
            [settings.LEASE_S, [upload.pk for upload in uploads]],
        )
    return [
        Claim(each.pk, each.fence + 1, each.attempts + 1, each.faults, is_slow=each.is_slow)
        for each in uploads
    ]


def _ahead(seconds: float) -> CombinedExpression:
    """So many seconds from now, by the database's clock."""
    return Now() + timedelta(seconds=seconds)


def requeue_abandoned() -> int:
    """Give uploads back whose lease ended without a result; how many.

    A lease further ahead than any worker could set was set before the database's clock was set
    back. A locked row is skipped: its reader is alive and writes the result, and waiting for it
    would stop every other reader.
    """
    is_ended = Q(lease_until__lt=Now()) | Q(lease_until__gt=_ahead(settings.LEASE_S))
    with transaction.atomic():
        rows = Upload.objects.filter(is_ended, state=State.PARSING).select_for_update(
            skip_locked=True
        )
        columns = rows.values_list("pk", "fence", "attempts", "faults", "is_slow")
        abandoned = [Claim(*row) for row in columns]
        for held in abandoned:
            _put_back(held, WORKER_ENDED, is_abandoned=True)
    return len(abandoned)


# Of a lease: how old it may get while its holder still works.
RENEW_AFTER_SHARE = 0.1


class Lease:
    """Claims kept alive by their holder: an upload of many trials takes longer than one lease."""

    def __init__(self, *claims: Claim) -> None:
        self.claims = claims
        self.renewed = time.monotonic()

    def renew(self) -> None:
        """To be called before each trial and while one is read; raises ClaimLost where every claim
        is lost."""
        if time.monotonic() - self.renewed < settings.LEASE_S * RENEW_AFTER_SHARE:
            return
        if not claimed(self.claims).update(lease_until=_ahead(settings.LEASE_S)):
            raise ClaimLost(", ".join(str(held.upload_id) for held in self.claims))
        self.renewed = time.monotonic()


def claimed(claims: Iterable[Claim]) -> QuerySet[Upload]:
    """The rows whose claims still hold."""
    held = [Q(pk=each.upload_id, fence=each.fence) for each in claims]
    return Upload.objects.filter(reduce(or_, held), state=State.PARSING)


def lock_claimed(held: Claim) -> Upload:
    """The claimed row, locked for the rest of the transaction; raises ClaimLost."""
    upload = claimed([held]).select_for_update().first()
    if upload is None:
        raise ClaimLost(str(held.upload_id))
    return upload


def finish(held: Claim, state: State, *, reason: str = "", **fields: object) -> bool:
    """End the upload if the claim still holds; whether it did."""
    changed = claimed([held]).update(
        state=state, reason=reason, finished_at=Now(), lease_until=None, **fields
    )
    return changed == 1


def release(held: Claim, *, reason: str) -> None:
    """Give the upload back after a fault that counts as an attempt; the last one quarantines it.

    `reason` is a sentence.
    """
    if held.is_last:
        note = "The raw files are kept. Loadsheet does not try again automatically."
        attempt = f"That was attempt {held.attempt}."
        finish(held, State.QUARANTINED, reason=f"{reason} {attempt} {note}")
        counters.count("uploads_ended", State.QUARANTINED)
        return
    claimed([held]).update(
        state=State.RECEIVED,
        reason=f"{reason} Loadsheet tries again automatically.",
        lease_until=None,
        retry_at=_ahead(pause_s_after(FAULTS_OF_AN_ATTEMPT * (held.attempt - 1))),
    )


def unclaim(claims: Sequence[Claim], **fields: object) -> None:
    """Let the uploads wait again, as if they had not been claimed."""
    if claims:
        attempts = F("attempts") - 1
        again = {"state": State.RECEIVED, "attempts": attempts, "lease_until": None}
        claimed(claims).update(**again, retry_at=None, **fields)


def reopen(upload_id: UUID) -> bool:
    """Make an upload that could not be read due again; whether it was one."""
    rows = Upload.objects.filter(pk=upload_id, state__in=[State.FAILED, State.QUARANTINED])
    changed = rows.update(
        state=State.RECEIVED,
        attempts=0,
        faults=0,
        retry_at=None,
        finished_at=None,
        is_interactive=False,
        reason="",
    )
    return changed == 1


# Claims of this process that could not be given back, because the database itself was away.
_owed: dict[Claim, str] = {}


def postpone(held: Claim, reason: str) -> None:
    """Give the upload back after a passing fault, to be tried again after a growing pause.

    `reason` is a sentence. After a day of pauses the upload fails with it. Never raises: with the
    database away it is done before this process's next claim.
    """
    _owed[held] = reason
    if connection.errors_occurred and not connection.is_usable():
        connection.close()  # a broken one would refuse for the rest of the task
    try:
        give_back_owed()
    except DatabaseGone:
        log.warning("upload_not_given_back", extra={"upload": str(held.upload_id)})


def give_back_owed() -> None:
    """Give back what could not be while the database was away; to be called before a claim."""
    for held, reason in list(_owed.items()):
        _put_back(held, reason)
        _owed.pop(held, None)


def _put_back(held: Claim, reason: str, *, is_abandoned: bool = False) -> None:
    """No attempt is counted, for the fault is not known to be the upload's.

    `is_abandoned`: its worker ended, and the lease was a part of the pause.
    """
    if held.faults >= faults_of_a_day():
        kept = "Loadsheet tried again for a day. The raw files are kept."
        counters.count("uploads_ended", State.FAILED)
        finish(held, State.FAILED, reason=f"{reason} {kept}")
        return
    pause_s = pause_s_after(held.faults) - (settings.LEASE_S if is_abandoned else 0)
    is_alone = is_abandoned and held.faults + 1 >= ALONE_FROM_FAULT
    claimed([held]).update(
        state=State.RECEIVED,
        reason=f"{reason} The raw files are kept. Loadsheet tries again automatically.",
        attempts=F("attempts") - 1,
        faults=F("faults") + 1,
        is_slow=held.is_slow or is_alone,
        lease_until=None,
        retry_at=_ahead(pause_s) if pause_s > 0 else None,
    )


def pause_s_after(faults: int) -> int:
    """How long to wait after so many passing faults before: doubling, at most a quarter hour."""
    return int(min(FIRST_PAUSE_S * 2 ** min(faults, 10), LONGEST_PAUSE_S))


@cache
def faults_of_a_day() -> int:
    """The number of passing faults whose pauses are PASSING_FAULTS_S together."""
    pauses_s = accumulate(map(pause_s_after, count()))
    return 1 + sum(1 for _ in takewhile(lambda waited_s: waited_s < PASSING_FAULTS_S, pauses_s))
