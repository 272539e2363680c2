"""The row is the queue: adding, claiming and ending deliveries.

A claim holds by the database's clock until its lease ends. Then another worker sends the message
again: a receiver may get a message twice, with the same id, and never gets none.
"""

import logging
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from backend import counters
from backend.accounts.models import Workspace
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
# A worker that found much to send looks again only after others had their turn.
SHIFT_S = 30.0


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


def send_due(*, is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Send what is due until nothing is, the shift is over or `is_stopping`; how many."""
    return work_off(claim, _work_on, is_stopping)


def work_off(
    claim: Callable[[], Any], work_on: Callable[[Any], None], is_stopping: Callable[[], bool]
) -> int:
    """Claim and work on rows until none is due, the shift ends or `is_stopping`; how many."""
    ends, count = time.monotonic() + SHIFT_S, 0
    while not is_stopping() and time.monotonic() < ends and (row := claim()) is not None:
        work_on(row)
        count += 1
    return count


def lock_by_lot(due: QuerySet[Any]) -> Any:
    """The first row of a workspace that lots choose: many rows of one hold up no other."""
    workspaces = list(due.order_by().values_list("workspace", flat=True).distinct())
    if not workspaces:
        return None
    rows = due.filter(workspace=random.choice(workspaces))  # noqa: S311  no secret
    return rows.select_for_update(skip_locked=True, of=("self",)).first()


@transaction.atomic
def claim() -> Delivery | None:
    """Take a delivery that is due; None when none is.

    A workspace gets one message at a time, so slow receivers hold up no other workspace.
    """
    is_held = Q(state=DeliveryState.SENDING, lease_until__gt=Now())
    busy = Delivery.objects.filter(is_held).values("workspace")
    is_waiting = Q(state=DeliveryState.WAITING, retry_at__lte=Now())
    is_abandoned = Q(state=DeliveryState.SENDING, lease_until__lte=Now())
    due = Delivery.objects.filter(is_waiting | is_abandoned, workspace__deleted_at=None)
    due = due.exclude(workspace__in=busy).order_by("retry_at")
    delivery: Delivery | None = lock_by_lot(due.select_related("channel", "workspace"))
    if delivery is not None:
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


def forget_old() -> int:
    """Delete the log of deliveries that ended more than 30 days ago; how many."""
    return Delivery.objects.filter(ended_at__lt=Now() - KEPT).delete()[0]
