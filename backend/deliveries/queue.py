"""The row is the queue: adding, claiming and ending deliveries.

A claim holds by the database's clock until its lease ends. Then another worker sends the message
again: a receiver may get a message twice, with the same id, and never gets none.
"""

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
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
        delivery.fence += 1
        Delivery.objects.filter(pk=delivery.pk).update(
            state=DeliveryState.SENDING, fence=delivery.fence, lease_until=Now() + LEASE
        )
    return delivery


def _work_on(delivery: Delivery) -> None:
    started = time.monotonic()
    status, reason, is_final = None, "", False
    try:
        status = send(delivery)
    except NotSent as refused:
        status, reason, is_final = refused.status, str(refused), refused.is_final
    except Exception as fault:  # a fault of ours must not stop the others
        log.exception("delivery_fault", extra={"delivery": str(delivery.pk)})
        reason = f"A fault of Loadsheet stopped this attempt ({type(fault).__name__})."
    attempt = {
        "at": instant(timezone.now()),
        "status": status,
        "reason": reason,
        "seconds": round(time.monotonic() - started, 3),
    }
    _end(delivery, attempt, is_final=is_final)


def _end(delivery: Delivery, attempt: dict[str, Any], *, is_final: bool) -> None:
    attempts, kind = [*delivery.attempts, attempt], delivery.channel.kind
    changed: dict[str, Any] = {"attempts": attempts, "lease_until": None}
    if not attempt["reason"]:
        changed |= {"state": DeliveryState.DELIVERED, "ended_at": Now()}
        counters.count("deliveries_ended", kind, DeliveryState.DELIVERED)
    elif is_final or len(attempts) > len(PAUSES_S):
        changed |= {"state": DeliveryState.FAILED, "ended_at": Now()}
        counters.count("deliveries_ended", kind, DeliveryState.FAILED)
        log.warning("delivery_failed", extra={"delivery": str(delivery.pk), **attempt})
    else:
        pause = timedelta(seconds=PAUSES_S[len(attempts) - 1])
        changed |= {"state": DeliveryState.WAITING, "retry_at": Now() + pause}
    if attempt["reason"]:
        counters.count("delivery_attempts_failed", kind)
    held = Delivery.objects.filter(
        pk=delivery.pk, state=DeliveryState.SENDING, fence=delivery.fence
    )
    held.update(**changed)
    end_turn(Work.MESSAGE, delivery.workspace_id, attempt["seconds"])


def forget_old() -> int:
    """Delete the log of deliveries that ended more than 30 days ago; how many."""
    return Delivery.objects.filter(ended_at__lt=Now() - KEPT).delete()[0]
