"""The statement that writes an upload with its artefacts and those bytes of them that are rows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import Field, JSONField, Model

from backend.ingest.models import Artefact, Upload
from backend.ingest.quota.quota import room_condition
from backend.ingest.quota.stored_sums import add_statement
from backend.ingest.removing.collector import LOCK_KEY
from backend.runs.models import Run


@cache
def insert_statement(*, is_alone: bool) -> str:
    """SQL; `is_alone`: as for `room_condition`."""
    uploads, artefacts = fields_of(Upload), fields_of(Artefact)
    values = ", ".join("%s::jsonb" if isinstance(field, JSONField) else "%s" for field in uploads)
    runs = connection.ops.quote_name(Run._meta.db_table)
    columns = ", ".join(f"artefact.{name}" for name in _names(artefacts))
    # Rows are written under the shared lock of the collector, which ends with the transaction. It
    # is taken before the bytes are looked at, so that bytes found then stay. The upload that comes
    # second inserts no row, and so nothing else. The last upload of a run has the id of the run,
    # which stands on the pages of a public workspace before: no other workspace may take it.
    return f"""
        WITH collector AS MATERIALIZED (
            SELECT pg_advisory_xact_lock_shared({LOCK_KEY})
        ), upload AS (
            INSERT INTO ingest_upload ({", ".join(_names(uploads))})
            SELECT {values} FROM collector
            WHERE {room_condition("%s", is_alone=is_alone)}
              AND NOT EXISTS (SELECT FROM {runs} AS run WHERE run.id = %s AND workspace_id <> %s)
            ON CONFLICT (id) DO NOTHING RETURNING id
        ), stored AS (
            {add_statement("%s", "%s", "%s", "FROM upload", uploads=1)}
        ), content AS (
            INSERT INTO ingest_smallcontent (sha256, content, size_bytes, stored_at)
            SELECT sha256, content, octet_length(content), statement_timestamp()
            FROM unnest(%s::text[], %s::bytea[]) AS given (sha256, content) CROSS JOIN upload
            ON CONFLICT (sha256) DO NOTHING
        )
        INSERT INTO ingest_artefact ({", ".join(_names(artefacts))})
        SELECT {columns}
        FROM jsonb_populate_recordset(NULL::ingest_artefact, %s::jsonb) AS artefact
        CROSS JOIN upload
        """  # noqa: S608  names of our own models


@cache
def fields_of(model: type[Model]) -> tuple[Field[Any, Any], ...]:
    """The columns that the statement names, in their order."""
    return tuple(model._meta.concrete_fields)


def _names(fields: Iterable[Field[Any, Any]]) -> list[str]:
    return [connection.ops.quote_name(str(field.column)) for field in fields]
