"""Listing uploads page by page, the last received first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from uuid import UUID

from django.db.models import Q

from backend.ingest.models import State, Upload
from backend.runs.cursors import pack_cursor, read_instant_cursor


class Which(Enum):
    """Which uploads a list has."""

    ALL = tuple(State)
    FAILED = (State.FAILED, State.QUARANTINED)
    # Those that are no run, or not yet.
    UNREAD = tuple(state for state in State if state != State.PARSED)


@dataclass(frozen=True, slots=True)
class UploadPage:
    """One page, and the cursor of the next page or None."""

    uploads: Sequence[Upload]
    next: str | None


def upload_page(
    workspace_id: UUID,
    *,
    which: Which = Which.ALL,
    since: datetime | None = None,
    after: str = "",
    limit: int,
) -> UploadPage:
    """Uploads of a workspace after the cursor: state, reason and time. Raises BadCursor."""
    rows = Upload.objects.filter(workspace=workspace_id, is_in_trash=False)
    rows = rows.order_by("-received_at", "-pk")
    if which is not Which.ALL:
        rows = rows.filter(state__in=which.value)
    if since is not None:
        rows = rows.filter(received_at__gte=since)
    if after:
        instant, upload_id = read_instant_cursor(after)
        together = Q(received_at=instant, pk__lt=upload_id)
        rows = rows.filter(Q(received_at__lt=instant) | together)
    uploads = list(rows.only("id", "state", "reason", "received_at")[: limit + 1])
    page = uploads[:limit]
    has_more = len(uploads) > limit
    cursor = pack_cursor(page[-1].received_at.isoformat(), str(page[-1].pk)) if has_more else None
    return UploadPage(page, cursor)
