"""Corrections and merges are kept, undone ones too: they count as what their workspace stores."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet, Sum

from backend.runs.database.json_bytes import bytes_of_columns

# Each is told of a workspace, and of how many bytes more it stores; packages above add theirs.
ROOM_TAKERS: list[Callable[[UUID, int], None]] = []


def kept_bytes(rows: QuerySet[Any]) -> int:
    """Bytes of what corrections or merges keep."""
    total: int | None = rows.aggregate(size=Sum(bytes_of_columns(rows.model)))["size"]
    return total or 0


def take_room(workspace_id: UUID, size_bytes: int) -> None:
    """Count so many bytes more, or less. Raises what ROOM_TAKERS raise."""
    for take in ROOM_TAKERS:
        take(workspace_id, size_bytes)
