"""How many bytes a workspace has stored and how many uploads it sent today, and how many it may.

What was sent counts as stored: raw files, envelopes, observations, corrections, merges and result
sets. What is computed from them (figures, images) does not. A file counts for each upload that
names it, as sent. An upload counts on the day (UTC) that it is received, also where it is deleted
later.

The sums are kept: each upload adds to them in the statement that writes its rows, each deletion
subtracts in its transaction, everything else adds when it is committed.

Uploads that come at the same time do not see each other. Far from the limits that does no harm, and
they are written side by side, under a shared lock of the workspace. Near the limits, each upload is
written alone, after the upload before was committed (`lock_room`), so no limit is exceeded.
"""

import math
from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from backend.accounts.models import Workspace
from backend.accounts.workspace.quotas import limits_of, service_limits
from backend.errors import Away, NotFound, Refused, TooMany
from backend.ingest.quota.stored_sums import SUMS_OF, add_later, stored_bytes, sums_of

# Where there is room for fewer uploads than this, of the size that comes, or for less than so many
# bytes, uploads are written alone: more cannot be on their way at the same time.
NEAR_UPLOADS = 256
NEAR_BYTES = 1 << 30
# The first half of the key of a workspace's lock.
LOCK_CLASS = 0x10AD_5EE7


class WorkspaceFull(Refused):
    """The workspace has as many stored bytes as it may have."""


class UploadsUsedUp(TooMany):
    """The workspace has sent as many uploads today as it may send in a day."""


class RoomChanged(Away):
    """There was no room when the upload was to be written, and a moment later there was."""

    def __init__(self) -> None:
        super().__init__("The workspace had no room a moment ago, and has room now.")


def check_quota(workspace_id: UUID, size_bytes: int) -> None:
    """Raises WorkspaceFull where so many bytes more are too many."""
    stored, most = stored_bytes(workspace_id), limits_of(workspace_id).stored_bytes
    if stored + size_bytes > most:
        raise WorkspaceFull(
            f"This workspace is full: it stores {stored:,} bytes, and {size_bytes:,} more came; "
            f"at most {most:,} are kept."
        )


def take_room(workspace_id: UUID, size_bytes: int) -> None:
    """Count so many bytes more, once they are committed, or less. Raises WorkspaceFull."""
    if size_bytes > 0:
        check_quota(workspace_id, size_bytes)
    add_later(workspace_id, size_bytes)


def refuse_closed(workspace_id: UUID) -> None:
    """Raises NotFound where the workspace was deleted since the sender was looked up."""
    if not Workspace.objects.filter(pk=workspace_id, deleted_at=None).exists():
        raise NotFound("The workspace was deleted. Nothing was stored.")


def explain_refusal(workspace_id: UUID, size_bytes: int) -> None:
    """Raises why an upload of so many bytes was not written: NotFound for a deleted workspace,
    WorkspaceFull, UploadsUsedUp, or RoomChanged where it would be written now.
    """
    refuse_closed(workspace_id)
    check_quota(workspace_id, size_bytes)
    sent, most = sums_of(workspace_id).uploads, limits_of(workspace_id).uploads_per_day
    if sent >= most:
        wait_s = math.ceil((day_ends_at() - timezone.now()).total_seconds())
        raise UploadsUsedUp(
            f"This workspace has used up its uploads of today: {sent} of {most}. "
            "The next day begins at 00:00 UTC.",
            wait_s=max(1, wait_s),
        )
    raise RoomChanged


def day_ends_at() -> datetime:
    """When the count of uploads begins again."""
    tomorrow = timezone.now().astimezone(UTC).date() + timedelta(days=1)
    return datetime.combine(tomorrow, time(), tzinfo=UTC)


def lock_room(workspace_id: UUID) -> None:
    """Until the end of the transaction, nobody else takes room in the workspace.

    What is asked after it sees all that was written before.
    """
    with connection.cursor() as cursor:
        statement = "SELECT pg_advisory_xact_lock(%s, hashtext(%s::uuid::text))"
        cursor.execute(statement, [LOCK_CLASS, workspace_id])


def room_condition(workspace: str, *, is_alone: bool) -> str:
    """SQL that is true where the workspace is not deleted and may send one upload of so many bytes.

    `workspace` is an expression; the last parameters are the bytes and those of `room_values`.
    `is_alone`: the caller holds `lock_room`. Without it, false is no refusal: near the limits, and
    while another upload is written alone, the caller tries again under `lock_room`.
    """
    near_bytes, near_uploads, lock = 0, 1, "TRUE"
    if not is_alone:
        near_bytes, near_uploads = NEAR_BYTES, NEAR_UPLOADS
        lock = f"pg_try_advisory_xact_lock_shared({LOCK_CLASS}, hashtext(room.id::text))"
    return f"""EXISTS (
            SELECT FROM accounts_workspace AS room
            CROSS JOIN LATERAL ({SUMS_OF} room.id) AS used
            LEFT JOIN accounts_quota AS quota ON quota.workspace_id = room.id
            WHERE room.id = {workspace}::uuid AND room.deleted_at IS NULL
              AND used.size_bytes + greatest(%s::bigint * {near_uploads}, {near_bytes})
                <= coalesce(quota.stored_bytes, %s)
              AND used.uploads + {near_uploads} <= coalesce(quota.uploads_per_day, %s)
              AND {lock}
        )"""


def room_values() -> list[Any]:
    """The limits of the service, for `room_condition`."""
    limits = service_limits()
    return [limits.stored_bytes, limits.uploads_per_day]
