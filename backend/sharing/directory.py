"""The public directory: workspaces and result sets that their members made public, with search.

It names nothing else: the workspace of a public result set stays unnamed unless it is public too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from backend.accounts.models import Workspace
from backend.errors import InvalidInput
from backend.links import link_to
from backend.runs.cursors import pack_cursor, read_instant_cursor
from backend.sharing.models import ResultSet, Visibility

KINDS = ("result-sets", "workspaces")
MAX_WORDS = 8
MAX_QUERY = 100


class BadSearch(InvalidInput):
    """The search cannot be made; the message says what was got and what is allowed."""

    @property
    def members(self) -> dict[str, Any]:
        return {"field": "q"}


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry. `workspace`: the name of its public workspace; None: not public."""

    id: UUID
    title: str
    url: str
    created_at: datetime
    workspace: str | None


@dataclass(frozen=True, slots=True)
class DirectoryPage:
    """One page, and the cursor of the next page or None."""

    entries: Sequence[Listed]
    next: str | None


def directory_page(kind: str, query: str = "", *, after: str = "", limit: int) -> DirectoryPage:
    """The entries of a kind that have every word of the query, the newest first.

    Raises BadSearch and BadCursor.
    """
    if kind not in KINDS:
        raise BadSearch(f"kind: got “{kind[:40]}”, expected {' or '.join(KINDS)}.")
    words = _words(query)
    rows = _workspaces(words) if kind == "workspaces" else _result_sets(words)
    if after:
        created_at, row_id = read_instant_cursor(after)
        together = Q(created_at=created_at, pk__lt=row_id)
        rows = rows.filter(Q(created_at__lt=created_at) | together)
    listed = list(rows.order_by("-created_at", "-pk")[: limit + 1])
    page = listed[:limit]
    cursor = None
    if len(listed) > limit:
        cursor = pack_cursor(page[-1].created_at.isoformat(), str(page[-1].pk))
    return DirectoryPage([_listed(row) for row in page], cursor)


def _words(query: str) -> list[str]:
    if len(query) > MAX_QUERY or "\0" in query:
        raise BadSearch(
            f"q: got {len(query)} characters, expected at most {MAX_QUERY}, without NUL."
        )
    return query.split()[:MAX_WORDS]


def _workspaces(words: Sequence[str]) -> QuerySet[Any]:
    rows = Workspace.objects.filter(is_public=True, deleted_at=None)
    for word in words:
        rows = rows.filter(Q(name__icontains=word) | Q(slug__icontains=word))
    return rows


def _result_sets(words: Sequence[str]) -> QuerySet[Any]:
    """Those that can be read and were not superseded."""
    is_readable = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    rows = ResultSet.objects.filter(
        is_readable, visibility=Visibility.PUBLIC, withdrawn_at=None, superseded_by=None
    )
    for word in words:
        in_workspace = Q(workspace__is_public=True, workspace__name__icontains=word)
        rows = rows.filter(Q(title__icontains=word) | in_workspace)
    return rows.select_related("workspace").defer("snapshot", "notes")


def _listed(row: Workspace | ResultSet) -> Listed:
    if isinstance(row, Workspace):
        url = link_to("workspace", row.slug)
        return Listed(row.pk, row.name, url, row.created_at, row.name)
    workspace = row.workspace.name if row.workspace.is_public else None
    # Its id is part of no address: the link may change.
    return Listed(row.link, row.title or "Untitled", row.path, row.created_at, workspace)
