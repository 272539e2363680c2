"""How many bytes a workspace has stored, and how many it may have.

What was sent counts: raw files, envelopes, observations, snapshots. What is computed from them
(figures, images) does not. A file counts for each upload that names it, as sent.

The sum is kept: each upload adds to it in the statement that writes its rows, each deletion
subtracts in its transaction, everything else adds when it is committed.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Sum
from django.db.models.functions import Coalesce

from backend.errors import Refused
from backend.ingest.models import Artefact, Upload

# Rows of the sum of one workspace. Two uploads at the same time seldom add to the same row, so the
# second seldom waits until the first is written.
SHARES = 16


# What counts: statements that give a workspace_id and size_bytes. A package above adds its own.
COUNTED = [
    "SELECT upload.workspace_id, artefact.size_bytes FROM ingest_artefact artefact"
    " JOIN ingest_upload upload ON upload.id = artefact.upload_id"
    " WHERE upload.raw_removed_at IS NULL",
    "SELECT workspace_id, envelope_bytes FROM ingest_upload",
    "SELECT workspace_id, octet_length(packed) FROM runs_observation",
]


class WorkspaceFull(Refused):
    """The workspace has as many stored bytes as it may have."""


# Of one workspace.
SUM_STATEMENT = (
    "SELECT coalesce(sum(size_bytes), 0) FROM ingest_storedbytes WHERE workspace_id = %s"
)


def stored_bytes(workspace_id: UUID) -> int:
    """Bytes that a workspace has stored; what was deleted does not count."""
    with connection.cursor() as cursor:
        cursor.execute(SUM_STATEMENT, [workspace_id])
        (total,) = cursor.fetchone()
    return int(total)


def check_quota(workspace_id: UUID, size_bytes: int) -> None:
    """Raises WorkspaceFull where so many bytes more are too many."""
    stored = stored_bytes(workspace_id)
    if stored + size_bytes > settings.WORKSPACE_MAX_BYTES:
        raise WorkspaceFull(
            f"This workspace is full: it stores {stored} bytes, and {size_bytes} more came; "
            f"at most {settings.WORKSPACE_MAX_BYTES} are kept."
        )


def any_share() -> int:
    """The number of the row to add to."""
    return secrets.randbelow(SHARES)


def add_later(workspace_id: UUID, size_bytes: int) -> None:
    """Add to the sum once the transaction is committed, so that none waits for another's sum.

    The collector adds what a killed process did not.
    """
    transaction.on_commit(partial(add, workspace_id, size_bytes), robust=True)


def add(workspace_id: UUID, size_bytes: int) -> None:
    """Add to the sum of a workspace, or subtract from it."""
    with connection.cursor() as cursor:
        cursor.execute(add_statement("%s", "%s", "%s"), [workspace_id, any_share(), size_bytes])


def bytes_of_uploads(upload_ids: Collection[UUID]) -> int:
    """What counts of these uploads: their files and envelopes."""
    artefacts = Artefact.objects.filter(upload__in=upload_ids, upload__raw_removed_at=None)
    files = artefacts.aggregate(total=Coalesce(Sum("size_bytes"), 0))["total"]
    uploads = Upload.objects.filter(pk__in=upload_ids)
    envelopes = uploads.aggregate(total=Coalesce(Sum("envelope_bytes"), 0))["total"]
    return int(files + envelopes)


def add_statement(workspace: str, share: str, size_bytes: str, source: str = "") -> str:
    """SQL that adds to the sum of a workspace, from expressions and what follows them (FROM …)."""
    return f"""
        INSERT INTO ingest_storedbytes AS stored (workspace_id, share, size_bytes)
        SELECT {workspace}, {share}, {size_bytes} {source}
        ON CONFLICT (workspace_id, share)
            DO UPDATE SET size_bytes = stored.size_bytes + excluded.size_bytes
        """


def recount() -> int:
    """Correct the sums by what is stored; of how many workspaces.

    One statement sees one state of both, so uploads that come meanwhile are counted once.
    """
    counted = " UNION ALL ".join(COUNTED)
    source = f"""
        FROM (
            SELECT workspace_id, sum(size_bytes) AS missing FROM (
                {counted} UNION ALL
                SELECT workspace_id, -size_bytes FROM ingest_storedbytes
            ) AS entries (workspace_id, size_bytes) GROUP BY workspace_id
        ) AS sums WHERE missing <> 0
        """  # noqa: S608  our own statements
    with connection.cursor() as cursor:
        cursor.execute(add_statement("workspace_id", "0", "missing", source))
        corrected: int = cursor.rowcount
    return corrected
