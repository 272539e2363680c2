"""Sessions: several agents carry out one plan and begin each trial at the same time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from backend.accounts.models import Token
from backend.errors import Conflict
from backend.fleet.forgetting import forget_beyond
from backend.fleet.models import Progress, Session, SessionMember
from backend.transactions import whole

# From "all are ready" to the start: every agent must have asked once more by then.
LEAD = timedelta(seconds=1.5)
# An agent that was silent for longer is not waiting any more.
ABSENT = timedelta(seconds=30)
# Each execution of a plan has a session of its own, so old ones are of no use to anybody.
KEPT = timedelta(days=30)
# Of one workspace, without those whose runs go on: beyond them, the oldest are deleted.
MOST_SESSIONS = 1_000


class JoinRefused(Conflict):
    """The agent has no place in this session; the message says why."""


@dataclass(frozen=True, slots=True)
class JoinRequest:
    """Which session an agent joins, and the step of the plan it is ready for (None: no step)."""

    name: str
    parts: int
    plan_sha256: str
    seed: int
    run: UUID
    host_name: str
    step: int | None = None


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """Agents that joined, agents expected, the seed of the order, and when the step begins."""

    seats: int
    parts: int
    seed: int
    starts_at: datetime | None


@whole
def join_session(token: Token, request: JoinRequest) -> SessionStatus:
    """Join, or ask again: agents repeat the request until `starts_at` is set.

    Raises JoinRefused.
    """
    _, is_new = Session.objects.get_or_create(
        workspace_id=token.workspace_id,
        name=request.name,
        defaults={"parts": request.parts, "plan_sha256": request.plan_sha256, "seed": request.seed},
    )
    if is_new:
        _forget_old(token)
    # The lock takes the agents of a session one after the other, so that none is counted twice.
    session = Session.objects.select_for_update().get(
        workspace_id=token.workspace_id, name=request.name
    )
    _refuse_mismatch(session, request)
    now = timezone.now()
    SessionMember.objects.update_or_create(
        run=request.run,
        session=session,
        defaults={"ready_for": request.step, "heard_at": now, "host_name": request.host_name},
    )
    if request.step is not None and session.step != request.step:
        _start_if_all_are_ready(session, request.step, now)
    is_started = request.step is not None and session.step == request.step
    return SessionStatus(
        seats=session.members.count(),
        parts=session.parts,
        seed=session.seed,
        starts_at=session.starts_at if is_started else None,
    )


def _forget_old(token: Token) -> None:
    own, now = Session.objects.filter(workspace=token.workspace_id), timezone.now()
    own.filter(created_at__lt=now - KEPT).delete()
    heard = Progress.objects.filter(workspace=token.workspace_id, state=Progress.State.RUNNING)
    alive = heard.filter(silent_until__gte=now).values("run")
    under_way = SessionMember.objects.filter(run__in=alive).values("session")
    forget_beyond(own.exclude(pk__in=under_way).order_by("-created_at"), MOST_SESSIONS)


def _refuse_mismatch(session: Session, request: JoinRequest) -> None:
    if session.plan_sha256 != request.plan_sha256:
        raise JoinRefused("This session runs another plan. Give your session another name.")
    if session.parts != request.parts:
        raise JoinRefused(
            f"This session takes {session.parts} agents; this agent expects {request.parts}."
        )
    member = SessionMember.objects.filter(run=request.run).first()
    if member is not None and member.session_id != session.pk:
        raise JoinRefused("This run is in another session.")
    if member is None and session.members.count() >= session.parts:
        raise JoinRefused(
            f"All {session.parts} agents of this session have joined. "
            "Give your session another name."
        )


def _start_if_all_are_ready(session: Session, step: int, now: datetime) -> None:
    ready = session.members.filter(ready_for=step, heard_at__gt=now - ABSENT).count()
    if ready == session.parts:
        session.step, session.starts_at = step, now + LEAD
        session.save(update_fields=["step", "starts_at"])
