"""Whose work of a kind comes next: persons take turns, however many workspaces they own.

Who pays for the work of a workspace is its first owner, or the workspace itself once it has none.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.db import connection
from django.utils import timezone

from backend.accounts.models import Role, Workspace, WorkTurn

log = logging.getLogger(__name__)

# After work of 10 s, its payer comes behind whoever else has work in the next 100 s.
REST = 10
KEPT = timedelta(days=1)
OWNER = "user "
WORKSPACE = "workspace "
NEVER = datetime.min.replace(tzinfo=UTC)


class Work(StrEnum):
    """What persons take turns in."""

    MESSAGE = "message"
    RUN = "run"
    ARCHIVE = "archive"
    AGENTS = "agents"
    TRASH = "trash"
    OUTPUT = "output"
    PURGE = "purge"
    # By the statement of backend/ingest/queue/turn_statement.py.
    UPLOAD = "upload"
    SLOW_UPLOAD = "slow upload"


def next_workspaces(
    work: Work, waiting: Iterable[UUID], busy: Iterable[UUID] = ()
) -> Collection[UUID]:
    """Of the workspaces that have work waiting, those of the payer whose turn it is.

    `busy`: workspaces whose work is being done. Their payers wait until it ends. Call it in the
    transaction of the claim: it chooses alone until then. Queries are evaluated here, so that they
    have what another worker claimed before.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"turn {work}"])
    waiting, busy = list(waiting), list(busy)
    payers = _payers([*waiting, *busy])
    at_work = {payers[each] for each in busy}
    free = [each for each in waiting if payers[each] not in at_work]
    if not free:
        return []
    # In the order of the workspaces: among payers without a turn, the first one is next.
    turns = _turns(work, [payers[each] for each in free])
    following = min(turns, key=turns.__getitem__)
    return [each for each in free if payers[each] == following]


def begin_turn(work: Work, workspace_id: UUID) -> None:
    """Work of the workspace begins. Written with the claim: where the work ends the worker, its
    payer has had the turn all the same."""
    _note_turn(work, payer_of_workspace(workspace_id), 0.0)


def end_turn(work: Work, workspace_id: UUID, seconds: float) -> None:
    """Work of the workspace took so long. Its payer has had a turn, whatever is deleted later."""
    _note_turn(work, payer_of_workspace(workspace_id), seconds)


def take_turns(
    work: Work,
    waiting: Iterable[UUID],
    pieces_of: Callable[[UUID], Generator[None]],
    budget_s: float,
) -> None:
    """Do a small piece of work at a time for the person whose turn it is, until nothing is left or
    `budget_s` is over. What is left is for the next call, which begins with who waits longest.

    `waiting`: workspaces that have work. `pieces_of`: yields after each piece of a workspace. A
    fault is logged, and ends the work of that workspace alone.
    """
    deadline = time.monotonic() + budget_s
    payers = _payers(waiting := list(dict.fromkeys(waiting)))
    left: dict[str, deque[UUID]] = {}
    for workspace_id in waiting:
        left.setdefault(payers[workspace_id], deque()).append(workspace_id)
    turns = _turns(work, left)
    under_way: dict[str, Generator[None]] = {}
    while left and time.monotonic() < deadline:
        payer = min(left, key=turns.__getitem__)
        workspace_id = left[payer][0]
        if payer not in under_way:
            under_way[payer] = pieces_of(workspace_id)
        _note_turn(work, payer, 0.0)
        started, has_more = time.monotonic(), False
        with guarded("work_failed", work=work, workspace=workspace_id):
            has_more = next(under_way[payer], _END) is not _END
        turns[payer] = _note_turn(work, payer, time.monotonic() - started)
        if not has_more:
            del under_way[payer]
            left[payer].popleft()
            if not left[payer]:
                del left[payer]
    for pieces in under_way.values():
        with guarded("work_failed", work=work), closing(pieces):
            pass


_END = object()


@contextmanager
def guarded(event: str, **about: object) -> Iterator[None]:
    """Log a fault of one step as `event`, so that the steps after it, of others, go on."""
    try:
        yield
    except Exception:
        log.exception(event, extra={name: str(value) for name, value in about.items()})


def forget_turns() -> None:
    """Delete the turns of persons who had no work for a day."""
    WorkTurn.objects.filter(at__lt=timezone.now() - KEPT).delete()


def forget_turns_of_workspace(workspace_id: UUID) -> None:
    """Delete the turns that have its id."""
    keys = [f"{work} {WORKSPACE}{workspace_id}" for work in Work]
    WorkTurn.objects.filter(pk__in=keys).delete()


def payer_in_sql(workspace: str) -> str:
    """SQL of the payer of the workspace that the column `workspace` names, such as 'user 7'."""
    return f"""coalesce(
        (SELECT '{OWNER}' || user_id FROM accounts_membership AS owner
         WHERE owner.workspace_id = {workspace} AND role = '{Role.OWNER}' ORDER BY id LIMIT 1),
        '{WORKSPACE}' || {workspace})"""  # noqa: S608  our own column


def _turns(work: Work, payers: Iterable[str]) -> dict[str, datetime]:
    """When the turn of each payer comes, in the order of the payers."""
    keys = {payer: f"{work} {payer}" for payer in payers}
    stored = dict(WorkTurn.objects.filter(pk__in=keys.values()).values_list("pk", "at"))
    return {payer: stored.get(key, NEVER) for payer, key in keys.items()}


def _note_turn(work: Work, payer: str, seconds: float) -> datetime:
    """When the next turn of the payer comes, after work of `seconds`."""
    turn = WorkTurn(key=f"{work} {payer}", at=timezone.now() + REST * timedelta(seconds=seconds))
    # Of a workspace that was deleted meanwhile, no id stays.
    if payer.startswith(OWNER) or _exists(payer.removeprefix(WORKSPACE)):
        WorkTurn.objects.bulk_create(
            [turn], update_conflicts=True, unique_fields=["key"], update_fields=["at"]
        )
    return turn.at


def _exists(workspace_id: str) -> bool:
    return Workspace.objects.filter(pk=workspace_id).exists()


def _payers(workspace_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Who pays for each workspace."""
    statement = f"SELECT id, {payer_in_sql('each.id')} FROM unnest(%s::uuid[]) AS each (id)"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(statement, [list(set(workspace_ids))])
        return dict(cursor.fetchall())


def payer_of_workspace(workspace_id: UUID) -> str:
    """Who pays for the workspace, such as "user 7"."""
    return _payers([workspace_id])[workspace_id]
