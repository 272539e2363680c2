"""A small upload of an agent, written with one statement and one commit.

The statement asks again whether the token may upload: it may have been revoked since the sender was
looked up. It is autocommitted, so there is one round trip, and one flush that the uploads of other
requests share.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection

from backend.ingest.collector import LOCK_KEY
from backend.ingest.quota import room_condition, room_values
from backend.ingest.stored_sums import add_statement, any_share


@dataclass(frozen=True, slots=True)
class SmallUpload:
    """One text without an envelope, cleaned of secrets."""

    id: UUID
    token_id: UUID
    received_at: datetime
    # Over what was sent, as of every upload.
    content_sha256: str
    file_name: str
    file_sha256: str
    content: bytes


def insert_small(upload: SmallUpload) -> bool:
    """Write the upload, its artefact and the bytes; whether it was written.

    False where the token may not upload any more, the workspace has no room or little room, has
    sent its uploads of the day or nearly, or the id is taken: then nothing is written.
    """
    with connection.cursor() as cursor:
        cursor.execute(_statement(), _values(upload))
        return bool(cursor.rowcount == 1)


def _values(upload: SmallUpload) -> list[Any]:
    size_bytes = len(upload.content)
    return [
        *(upload.token_id, upload.id, upload.content_sha256, upload.received_at),
        *(size_bytes, *room_values(), any_share(), size_bytes),
        *(upload.file_sha256, upload.content, size_bytes, upload.received_at),
        *(uuid.uuid4(), upload.file_name, upload.file_sha256, size_bytes),
    ]


@cache
def _statement() -> str:
    # Take the lock of the collector before looking at the bytes, so that bytes found then stay.
    return f"""
        WITH sender AS MATERIALIZED (
            SELECT token.id, token.workspace_id, token.user_id
            FROM accounts_token AS token
            LEFT JOIN accounts_user AS maker ON maker.id = token.user_id
            LEFT JOIN accounts_membership AS membership
                ON membership.user_id = token.user_id
                AND membership.workspace_id = token.workspace_id
            WHERE token.id = %s AND token.scopes ?| ARRAY['runs:write', 'agent']
              -- From which address the sender asks is for the long way to judge.
              AND token.networks = '[]' AND token.revoked_at IS NULL
              AND (token.expires_at IS NULL OR token.expires_at > statement_timestamp())
              AND (token.user_id IS NULL
                   OR maker.is_active AND membership.role IN ('member', 'admin', 'owner'))
        ), collector AS MATERIALIZED (
            SELECT pg_advisory_xact_lock_shared({LOCK_KEY}) FROM sender
        ), upload AS (
            INSERT INTO ingest_upload (
                id, workspace_id, token_id, author_id, content_sha256, received_at, is_small,
                envelope, envelope_bytes, tool_hint, state, reason, attempts, faults, is_slow,
                fence, parser_version, is_in_trash
            )
            SELECT %s, sender.workspace_id, sender.id, sender.user_id, %s, %s, TRUE,
                '{{}}', 0, '', 'received', '', 0, 0, FALSE, 0, '', FALSE
            FROM sender CROSS JOIN collector
            WHERE {room_condition("sender.workspace_id", is_alone=False)}
            ON CONFLICT (id) DO NOTHING RETURNING id, workspace_id
        ), stored AS (
            {add_statement("workspace_id", "%s", "%s", "FROM upload", uploads=1)}
        ), content AS (
            INSERT INTO ingest_smallcontent (sha256, content, size_bytes, stored_at)
            SELECT %s, %s, %s, %s FROM upload ON CONFLICT (sha256) DO NOTHING
        )
        INSERT INTO ingest_artefact (id, upload_id, position, name, sha256, size_bytes)
        SELECT %s, upload.id, 0, %s, %s, %s FROM upload
        """  # noqa: S608  our own names and statements
