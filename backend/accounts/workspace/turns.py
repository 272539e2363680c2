"""Whose work of a kind comes next: persons take turns, however many workspaces they own.

Who pays for the work of a workspace is its first owner, or the workspace itself once it has none.
"""

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.db import connection
from django.utils import timezone

from backend.accounts.models import Role, WorkTurn

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
    # By the statement of backend/ingest/queue/turn_statement.py.
    UPLOAD = "upload"
    SLOW_UPLOAD = "slow upload"


def next_workspaces(
    work: Work, waiting: Iterable[UUID], busy: Collection[UUID] = ()
) -> Collection[UUID]:
    """Of the workspaces that have work waiting, those of the payer whose turn it is.

    `busy`: workspaces whose work is being done. Their payers wait until it ends.
    """
    waiting = list(waiting)
    payers = _payers([*waiting, *busy])
    at_work = {payers[each] for each in busy}
    free = [each for each in waiting if payers[each] not in at_work]
    if not free:
        return []
    # In the order of the workspaces: among payers without a turn, the first one is next.
    keys = dict.fromkeys(_key(work, payers[each]) for each in free)
    turns = dict(WorkTurn.objects.filter(pk__in=keys).values_list("pk", "at"))
    following = min(keys, key=lambda key: turns.get(key, NEVER))
    return [each for each in free if _key(work, payers[each]) == following]


def end_turn(work: Work, workspace_id: UUID, seconds: float) -> None:
    """Work of the workspace took so long. Its payer has had a turn, whatever is deleted later."""
    payer = payer_of_workspace(workspace_id)
    if payer.startswith(OWNER):
        at = timezone.now() + REST * timedelta(seconds=seconds)
        WorkTurn.objects.update_or_create(pk=_key(work, payer), defaults={"at": at})


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


def _payers(workspace_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Who pays for each workspace."""
    statement = f"SELECT id, {payer_in_sql('each.id')} FROM unnest(%s::uuid[]) AS each (id)"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(statement, [list(set(workspace_ids))])
        return dict(cursor.fetchall())


def payer_of_workspace(workspace_id: UUID) -> str:
    """Who pays for the workspace, such as "user 7"."""
    return _payers([workspace_id])[workspace_id]


def _key(work: Work, payer: str) -> str:
    return f"{work} {payer}"
