"""How many bytes of raw files a workspace has stored, and how many it may have.

The sum is kept beside the artefacts: each upload adds to it in the statement that writes its rows,
each deletion subtracts in its transaction. A file counts for each upload that names it, as sent.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Sum
from django.db.models.functions import Coalesce

from backend.errors import Refused
from backend.ingest.models import Artefact

# Rows of the sum of one workspace. Two uploads at the same time seldom add to the same row, so the
# second seldom waits until the first is written.
SHARES = 16


class WorkspaceFull(Refused):
    """The workspace has as many stored bytes as it may have."""


# Of one workspace.
SUM_STATEMENT = (
    "SELECT coalesce(sum(size_bytes), 0) FROM ingest_storedbytes WHERE workspace_id = %s"
)


def stored_bytes(workspace_id: UUID) -> int:
    """Bytes of the raw files of a workspace; what was deleted does not count."""
    with connection.cursor() as cursor:
        cursor.execute(SUM_STATEMENT, [workspace_id])
        (total,) = cursor.fetchone()
    return int(total)


def check_quota(workspace_id: UUID, size_bytes: int) -> None:
    """Raises WorkspaceFull where so many bytes more are too many."""
    stored = stored_bytes(workspace_id)
    if stored + size_bytes > settings.WORKSPACE_MAX_BYTES:
        raise WorkspaceFull(
            f"This workspace is full: it has {stored} bytes of raw files, and {size_bytes} more "
            f"came; at most {settings.WORKSPACE_MAX_BYTES} are kept."
        )


def any_share() -> int:
    """The number of the row to add to."""
    return secrets.randbelow(SHARES)


def subtract_uploads(workspace_id: UUID, upload_ids: Collection[UUID]) -> None:
    """Before these uploads of the workspace are deleted, in the transaction that does so."""
    artefacts = Artefact.objects.filter(upload__in=upload_ids)
    size_bytes = artefacts.aggregate(total=Coalesce(Sum("size_bytes"), 0))["total"]
    with connection.cursor() as cursor:
        cursor.execute(add_statement("%s", "%s", "%s"), [workspace_id, any_share(), -size_bytes])


def add_statement(workspace: str, share: str, size_bytes: str, source: str = "") -> str:
    """SQL that adds to the sum of a workspace, from expressions and what follows them (FROM …)."""
    return f"""
        INSERT INTO ingest_storedbytes AS stored (workspace_id, share, size_bytes)
        SELECT {workspace}, {share}, {size_bytes} {source}
        ON CONFLICT (workspace_id, share)
            DO UPDATE SET size_bytes = stored.size_bytes + excluded.size_bytes
        """


def recount() -> int:
    """Correct the sums by the artefacts that are there; of how many workspaces.

    One statement sees one state of both, so uploads that come meanwhile are counted once.
    """
    source = """
        FROM (
            SELECT workspace_id, sum(size_bytes) AS missing FROM (
                SELECT upload.workspace_id, artefact.size_bytes
                FROM ingest_artefact artefact
                JOIN ingest_upload upload ON upload.id = artefact.upload_id
                UNION ALL
                SELECT workspace_id, -size_bytes FROM ingest_storedbytes
            ) AS entries GROUP BY workspace_id
        ) AS sums WHERE missing <> 0
        """
    with connection.cursor() as cursor:
        cursor.execute(add_statement("workspace_id", "0", "missing", source))
        corrected: int = cursor.rowcount
    return corrected
