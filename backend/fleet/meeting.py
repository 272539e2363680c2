"""Agents that attack together: they meet before each trial, and all begin it at one time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.accounts.models import Token
from backend.fleet.models import Seat, Session

# From the moment that all are ready to the start: each must have asked once more by then.
LEAD = timedelta(seconds=1.5)
# Who was not heard for so long is not waiting any more.
ABSENT = timedelta(seconds=30)


class MeetingRefused(Exception):
    """The agent has no place in this session; the message says why."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What an agent says: which session it means, and for which trial it is ready (or none)."""

    name: str
    parts: int
    plan_sha256: str
    seed: int
    run: UUID
    host_name: str
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Meeting:
    """How many have come, the seed of their order, and when the trial begins once all are ready."""

    seats: int
    parts: int
    seed: int
    starts_at: datetime | None


@transaction.atomic
def meet(token: Token, wish: Wish) -> Meeting:
    """To be asked again until `starts_at` is there. Raises MeetingRefused."""
    Session.objects.get_or_create(
        workspace_id=token.workspace_id,
        name=wish.name,
        defaults={"parts": wish.parts, "plan_sha256": wish.plan_sha256, "seed": wish.seed},
    )
    # Agents of a session come one after the other: nobody starts a trial that another counts.
    session = Session.objects.select_for_update().get(
        workspace_id=token.workspace_id, name=wish.name
    )
    _refuse_others(session, wish)
    now = timezone.now()
    Seat.objects.update_or_create(
        run=wish.run,
        session=session,
        defaults={"ready_for": wish.step, "heard_at": now, "host_name": wish.host_name},
    )
    if wish.step is not None and session.step != wish.step:
        _start_if_all_are_ready(session, wish.step, now)
    starts_at = session.starts_at if wish.step is not None and session.step == wish.step else None
    return Meeting(session.seats.count(), session.parts, session.seed, starts_at)


def _refuse_others(session: Session, wish: Wish) -> None:
    if session.plan_sha256 != wish.plan_sha256:
        raise MeetingRefused("Another plan is carried out in this session; give it another name.")
    if session.parts != wish.parts:
        raise MeetingRefused(
            f"This session takes {session.parts} agents, and this one said {wish.parts}."
        )
    seat = Seat.objects.filter(run=wish.run).first()
    if seat is not None and seat.session_id != session.pk:
        raise MeetingRefused("The run is in another session.")
    if seat is None and session.seats.count() >= session.parts:
        raise MeetingRefused(
            f"All {session.parts} agents of this session have come; give another name."
        )


def _start_if_all_are_ready(session: Session, step: int, now: datetime) -> None:
    ready = session.seats.filter(ready_for=step, heard_at__gt=now - ABSENT).count()
    if ready == session.parts:
        session.step, session.starts_at = step, now + LEAD
        session.save(update_fields=["step", "starts_at"])
