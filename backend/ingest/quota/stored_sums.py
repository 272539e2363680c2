"""The sums of what each workspace has stored, and of the uploads that it sent today."""

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Sum
from django.db.models.functions import Coalesce

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
    "SELECT workspace_id, octet_length(packed) + octet_length(host::text) FROM runs_observation",
    "SELECT run.workspace_id, octet_length(before::text)"
    " + coalesce(octet_length(value::text), 0) + octet_length(correction.facts::text)"
    " + coalesce(octet_length(ordinals::text), 0)"
    " FROM runs_correction correction JOIN runs_run run ON run.id = correction.run_id",
    "SELECT workspace_id, octet_length(rows::text) + octet_length(former_names::text)"
    " FROM runs_merge",
]
# The day of today, in UTC and by the database's clock.
TODAY = "(statement_timestamp() AT TIME ZONE 'UTC')::date"
# Of one workspace: its bytes, and its uploads today.
SUMS_OF = f"""
    SELECT coalesce(sum(size_bytes), 0)::bigint AS size_bytes,
        coalesce(sum(uploads) FILTER (WHERE day = {TODAY}), 0)::bigint AS uploads
    FROM ingest_storedbytes WHERE workspace_id = """  # noqa: S608  our own names


@dataclass(frozen=True, slots=True)
class Sums:
    """What a workspace has stored, and how many uploads it sent today."""

    size_bytes: int
    uploads: int


def sums_of(workspace_id: UUID) -> Sums:
    """What was deleted does not count as stored, and counts as sent."""
    with connection.cursor() as cursor:
        cursor.execute(f"{SUMS_OF} %s", [workspace_id])
        return Sums(*cursor.fetchone())


def stored_bytes(workspace_id: UUID) -> int:
    """Bytes that a workspace has stored; what was deleted does not count."""
    return sums_of(workspace_id).size_bytes


def any_share() -> int:
    """The number of the row to add to."""
    return secrets.randbelow(SHARES)


def add_later(workspace_id: UUID, size_bytes: int) -> None:
    """Add to the sum once the transaction is committed, so that no transaction waits for the sum.

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


def add_statement(
    workspace: str, share: str, size_bytes: str, source: str = "", *, uploads: int = 0
) -> str:
    """SQL that adds to the sums of a workspace, from expressions and what follows them (FROM …)."""
    return f"""
        INSERT INTO ingest_storedbytes AS stored (workspace_id, share, size_bytes, uploads, day)
        SELECT {workspace}, {share}, {size_bytes}, {uploads}, {TODAY} {source}
        ON CONFLICT (workspace_id, share) DO UPDATE SET
            size_bytes = stored.size_bytes + excluded.size_bytes,
            uploads = excluded.uploads
                + CASE WHEN stored.day = excluded.day THEN stored.uploads ELSE 0 END,
            day = excluded.day
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
