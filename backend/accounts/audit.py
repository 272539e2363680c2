"""The audit log: one event for each act that changes who may do what, or what others see.

Whoever changes something calls `record` in the same transaction. Who acts is not passed through all
functions: the request says it once, with `acting`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from backend.accounts.limits import throttle
from backend.accounts.limits.limiters import ACTS
from backend.accounts.models import Act, AuditEvent, Token, User, Workspace

MAX_TEXT = 200
# Never refused: they take access away, and each needs an act before it that is counted.
UNCOUNTED = frozenset(
    {
        *(Act.TOKEN_REVOKED, Act.TOKEN_LEAKED, Act.FEED_TOKEN_REVOKED, Act.INVITATION_REVOKED),
        *(Act.MEMBER_REMOVED, Act.MEMBER_LEFT, Act.WORKSPACE_DELETED, Act.ACCOUNT_ERASED),
    }
)


@dataclass(slots=True)
class Origin:
    """Who sends a request, and from where. `find_user` is asked only where an event is stored."""

    find_user: Callable[[], User | None]
    address: str | None
    token: Token | None = None


_THE_SERVICE = Origin(lambda: None, None)
_origin: ContextVar[Origin | None] = ContextVar("audit_origin", default=None)


@contextmanager
def acting(origin: Origin) -> Iterator[None]:
    """Events inside name this origin. Outside of it they name the service itself."""
    reset = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(reset)


def acting_with(token: Token) -> None:
    """The request that is answered came with this token."""
    origin = _origin.get()
    if origin is not None:
        origin.token = token


def record(
    act: Act,
    workspace: Workspace | None,
    *,
    subject: object = "",
    subject_id: UUID | None = None,
    by: User | None = None,
    **detail: Any,
) -> None:
    """Store that `act` was done to `subject`, a name or a title.

    `detail`: plain values, those of `change` where something changed; never a secret. `by` names a
    person who is not signed in yet. Raises TooOften.
    """
    event = _event(act, workspace, subject, subject_id, by, detail)
    _count(event, 1)
    event.save(force_insert=True)


def record_each(act: Act, workspace: Workspace, subject_ids: Sequence[UUID]) -> None:
    """As `record`, for many subjects without a name, in one statement."""
    events = [_event(act, workspace, id_, id_, None, {}) for id_ in subject_ids]
    if events:
        _count(events[0], len(events))
        AuditEvent.objects.bulk_create(events)


def _count(event: AuditEvent, events: int) -> None:
    """Count the acts of a person; raises TooOften."""
    if event.actor_id is None or event.act in UNCOUNTED:
        return
    wait_s = throttle.seconds_until(ACTS, throttle.payer_of(event.actor_id), count=events)
    if wait_s:
        raise throttle.TooOften(ACTS, wait_s, hint="Or ask another member to do it.")


def _event(
    act: Act,
    workspace: Workspace | None,
    subject: object,
    subject_id: UUID | None,
    by: User | None,
    detail: dict[str, Any],
) -> AuditEvent:
    return AuditEvent(
        act=act,
        workspace_id=workspace.pk if workspace else None,
        **_actor_fields(_origin.get() or _THE_SERVICE, by),
        subject=str(subject).replace("\0", "")[:MAX_TEXT],
        subject_id=subject_id,
        detail=detail,
    )


def _actor_fields(origin: Origin, by: User | None) -> dict[str, Any]:
    token = origin.token
    user = by or (token.user if token else origin.find_user())
    return {
        "actor_id": user.pk if user else None,
        "actor_name": user.get_username() if user else "",
        "token_id": token.pk if token else None,
        "token_name": token.name if token else "",
        "address": origin.address,
    }


def change(was: Any, now: Any) -> dict[str, Any]:
    """How an event tells a changed value."""
    return {"was": was, "is": now}


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """By name, what was and what is, of the values that differ."""
    return {name: change(before[name], now) for name, now in after.items() if before[name] != now}


def events_of(workspace: Workspace, *, act: str = "") -> QuerySet[AuditEvent]:
    """The events of a workspace, all of them or those of one act."""
    rows = AuditEvent.objects.filter(workspace_id=workspace.pk)
    return rows.filter(act=act) if act else rows


@transaction.atomic
def purge(workspace_id: UUID) -> None:
    """Delete the events of a deleted workspace but for that of its deletion, which names no one
    but the person who deleted it.
    """
    with connection.cursor() as cursor:
        # The trigger of the table refuses a deletion without it.
        cursor.execute("SET LOCAL loadsheet.purges_audit = 'on'")
        rows = AuditEvent.objects.filter(workspace_id=workspace_id)
        rows.exclude(act=Act.WORKSPACE_DELETED).delete()
        cursor.execute("SET LOCAL loadsheet.purges_audit = 'off'")
