"""When the files of a run were read again, what that changed, and how it is printed."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import orjson

from backend.ingest.models import NAMED_RUN_SQL, Rereading
from backend.runs.database.read_router import reading_connection
from backend.visible_text import shortened

_REREADING = ("read_at", "from_version", "to_version", "changes", "refused", "stopped")
# As `uploads_by_name` has the uploads.
_REREADINGS = f"""
SELECT {", ".join(_REREADING)} FROM ingest_rereading WHERE upload_id IN (
    SELECT id FROM ingest_upload
    WHERE workspace_id = (SELECT workspace_id FROM runs_run WHERE id = %(run)s)
        AND (run_id = %(run)s OR {NAMED_RUN_SQL % {"expressions": "envelope"}} = %(digits)s)
)
ORDER BY read_at DESC
"""  # noqa: S608  names of our own
MAX_SHOWN = 20


def rereadings_of(run_id: UUID) -> list[dict[str, Any]]:
    """When the run's files were read again, and what that changed; the latest first."""
    with reading_connection().cursor() as cursor:
        cursor.execute(_REREADINGS, {"run": run_id, "digits": run_id.hex})
        rows = cursor.fetchall()
    return [
        {
            **dict(zip(_REREADING, row, strict=True)),
            "read_at": row[0].isoformat(),
            "changes": orjson.loads(row[3]),
        }
        for row in rows
    ]


def without_names(rereading: Mapping[str, Any]) -> dict[str, Any]:
    """A rereading as people outside the workspace read it: a refusal quotes names of files."""
    refused = "Its output could not be read." if rereading["refused"] else ""
    return {**rereading, "refused": refused}


def lines_about(head: str, rereading: Rereading) -> Iterator[str]:
    """The outcome behind `head`, then the first figures that changed."""
    if reason := rereading.refused or rereading.stopped:
        yield f"{head}: {rereading.outcome}, the old figures stay: {reason}"
        return
    yield f"{head}: {len(rereading.changes)} figures changed"
    for change in rereading.changes[:MAX_SHOWN]:
        before, after = _short(change["before"]), _short(change["after"])
        yield f"    trial {change['ordinal']} {change['figure']}: {before} → {after}"
    if len(rereading.changes) > MAX_SHOWN:
        yield f"    … and {len(rereading.changes) - MAX_SHOWN} more"


def _short(value: Any) -> str:
    return shortened("unknown" if value is None else str(value), 80)
