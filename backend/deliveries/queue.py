"""The row is the queue: adding, claiming and ending deliveries.

A claim holds by the database's clock until its lease ends. Then another worker sends the message
again: a receiver may get a message twice, with the same id, and never gets none. A claim that never
ended counts as an attempt, so that a message that ends each worker is given up as others are.
"""

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from backend import counters
from backend.accounts.models import Workspace
from backend.accounts.workspace.turns import Work, begin_turn, end_turn, next_workspaces
from backend.analysis.query.timestamps import instant
from backend.deliveries.models import Channel, Delivery, DeliveryState, Topic
from backend.deliveries.posting import TOTAL_S, NotSent
from backend.deliveries.sending import send

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=6 * TOTAL_S)
# Before the second attempt, the third, and so on; together nearly 2 days.
PAUSES_S = (30, 120, 600, 3600, 4 * 3600, 12 * 3600, 24 * 3600)
MOST_ATTEMPTS = len(PAUSES_S) + 1
UNENDED = "This attempt did not end: the worker was stopped, or took too long."
KEPT = timedelta(days=30)
# Of one channel; further messages are dropped.
MOST_WAITING = 1000


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent: `event` and `data` for programs, the rest for people."""

    event: str
    subject: str
    text: str
    link: str
    data: dict[str, Any] = field(default_factory=dict)


def enqueue(workspace: Workspace, topic: Topic, message: Message) -> int:
    """Add the message for every channel of the topic; how many. Call it in a transaction."""
    channels = Channel.objects.filter(workspace=workspace, topics__contains=[topic.value])
    return len(_add(channels, message))


def enqueue_for(channel: Channel, message: Message) -> Delivery | None:
    """Add the message for one channel; None if its queue is full."""
    return next(iter(_add([channel], message)), None)


def _add(channels: Iterable[Channel], message: Message) -> list[Delivery]:
    channels = [channel for channel in channels if not _is_overflowing(channel)]
    return Delivery.objects.bulk_create(
        Delivery(
            workspace_id=channel.workspace_id,
            channel=channel,
            event=message.event,
            subject=message.subject[:300],
            text=message.text,
            link=message.link,
            data=message.data,
        )
        for channel in channels
    )


def _is_overflowing(channel: Channel) -> bool:
    """Whether a receiver that takes nothing, or a flood of runs, has filled the channel's queue."""
    waiting = Delivery.objects.filter(channel=channel, ended_at=None)[:MOST_WAITING].count()
    if waiting < MOST_WAITING:
        return False
    log.warning("channel_is_full", extra={"channel": str(channel.pk)})
    return True


def send_next() -> bool:
    """Send a message that is due; False where none is."""
    delivery = claim()
    if delivery is not None:
        _work_on(delivery)
    return delivery is not None


@transaction.atomic
def claim() -> Delivery | None:
    """Take a delivery that is due; None when none is.

    A person gets one message at a time, in turn with all others.
    """
    is_held = Q(state=DeliveryState.SENDING, lease_until__gt=Now())
    is_waiting = Q(state=DeliveryState.WAITING, retry_at__lte=Now())
    is_abandoned = Q(state=DeliveryState.SENDING, lease_until__lte=Now())
    busy = Delivery.objects.filter(is_held).order_by().values_list("workspace", flat=True)
    due = Delivery.objects.filter(is_waiting | is_abandoned, workspace__deleted_at=None)
    waiting = due.order_by().values_list("workspace", flat=True).distinct()
    rows = due.filter(workspace__in=next_workspaces(Work.MESSAGE, waiting, busy))
    rows = rows.select_related("channel", "workspace").order_by("retry_at")
    delivery = rows.select_for_update(skip_locked=True, of=("self",)).first()
    if delivery is not None:
        begin_turn(Work.MESSAGE, delivery.workspace_id)
        if delivery.lease_until is not None:
            delivery.attempts.append(_unended(delivery.lease_until))
            counters.count("delivery_attempts_failed", delivery.channel.kind)
        delivery.fence += 1
        Delivery.objects.filter(pk=delivery.pk).update(
            state=DeliveryState.SENDING,
            fence=delivery.fence,
            lease_until=Now() + LEASE,
            attempts=delivery.attempts,
        )
    return delivery


def _unended(lease_until: datetime) -> dict[str, Any]:
    """The attempt of a claim that nobody ended. Nobody knows how long it took."""
    return {
        "at": instant(lease_until - LEASE),
        "status": None,
        "reason": UNENDED,
        "seconds": None,
    }


def _work_on(delivery: Delivery) -> None:
    if len(delivery.attempts) >= MOST_ATTEMPTS:
        # The worker ended in the last one.
        _end(delivery, DeliveryState.FAILED)
    else:
        _attempt(delivery)


def _attempt(delivery: Delivery) -> None:
    started = time.monotonic()
    status, reason, is_final = None, "", False
    try:
        status = send(delivery)
    except NotSent as refused:
        status, reason, is_final = refused.status, str(refused), refused.is_final
    except Exception as fault:  # a fault of ours must not stop the others
        log.exception("delivery_fault", extra={"delivery": str(delivery.pk)})
        reason = f"A fault of Loadsheet stopped this attempt ({type(fault).__name__})."
    seconds = round(time.monotonic() - started, 3)
    attempt = {"at": instant(timezone.now()), "status": status, "reason": reason}
    delivery.attempts.append({**attempt, "seconds": seconds})
    if not reason:
        _end(delivery, DeliveryState.DELIVERED)
    else:
        counters.count("delivery_attempts_failed", delivery.channel.kind)
        if is_final or len(delivery.attempts) >= MOST_ATTEMPTS:
            _end(delivery, DeliveryState.FAILED)
        else:
            pause = timedelta(seconds=PAUSES_S[len(delivery.attempts) - 1])
            _write(delivery, state=DeliveryState.WAITING, retry_at=Now() + pause)
    end_turn(Work.MESSAGE, delivery.workspace_id, seconds)


def _end(delivery: Delivery, state: DeliveryState) -> None:
    if not _write(delivery, state=state, ended_at=Now()):
        return
    counters.count("deliveries_ended", delivery.channel.kind, state)
    if state == DeliveryState.FAILED:
        about = {"delivery": str(delivery.pk), **delivery.attempts[-1]}
        log.warning("delivery_failed", extra=about)


def _write(delivery: Delivery, **changed: Any) -> bool:
    """Write it with its attempts and without a lease; False where another worker took it."""
    rows = Delivery.objects.filter(
        pk=delivery.pk, state=DeliveryState.SENDING, fence=delivery.fence
    )
    return bool(rows.update(attempts=delivery.attempts, lease_until=None, **changed))


def forget_old() -> int:
    """Delete the log of deliveries that ended more than 30 days ago; how many."""
    return Delivery.objects.filter(ended_at__lt=Now() - KEPT).delete()[0]
