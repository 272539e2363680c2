"""The public directory: what members made public, with search: result sets, runs and workspaces.

It names nothing else: the workspace of a public result set or run stays unnamed unless it is public
too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from backend.accounts.models import Workspace
from backend.errors import InvalidInput
from backend.links import link_to
from backend.runs.catalogue.listing import rows_of
from backend.runs.catalogue.text_search import Searched, runs_measuring
from backend.runs.database.cursors import Page, page_by_time
from backend.runs.models import Cell, Run, Series
from backend.runs.tables.large_columns import large_columns
from backend.sharing.models import ResultSet, SharedRun, Visibility

MAX_WORDS = 8
MAX_QUERY = 100


class BadSearch(InvalidInput):
    """The search cannot be made; the message says what was got and what is allowed."""

    field = "q"


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry. `workspace`: the name of its public workspace; None: not public."""

    id: UUID
    title: str
    url: str
    created_at: datetime
    workspace: str | None


def directory_page(kind: str, query: str = "", *, after: str = "", limit: int) -> Page[Listed]:
    """The entries of a kind that have every word of the query, the newest first.

    Raises BadSearch and BadCursor.
    """
    if kind not in KINDS:
        raise BadSearch(f"kind: got “{kind[:40]}”, expected {' or '.join(KINDS)}.")
    find_rows, list_entries = _KINDS[kind]
    page = page_by_time(find_rows(_words(query)), "created_at", after=after, limit=limit)
    return Page(list_entries(page.rows), page.next)


def _words(query: str) -> list[str]:
    if len(query) > MAX_QUERY or "\0" in query:
        raise BadSearch(
            f"q: got {len(query)} characters, expected at most {MAX_QUERY}, without NUL."
        )
    return query.split()[:MAX_WORDS]


def _workspaces(words: Sequence[str]) -> QuerySet[Any]:
    rows = Workspace.objects.public()
    for word in words:
        rows = rows.filter(Q(name__icontains=word) | Q(slug__icontains=word))
    return rows


def _result_sets(words: Sequence[str]) -> QuerySet[Any]:
    """Those that can be read and were not superseded."""
    rows = ResultSet.objects.public().filter(superseded_by=None)
    public = Workspace.objects.public()
    for word in words:
        in_workspace = Q(workspace__in=public, workspace__name__icontains=word)
        rows = rows.filter(Q(title__icontains=word) | in_workspace)
    return rows.select_related("workspace").defer("snapshot", "notes")


def _runs(words: Sequence[str]) -> QuerySet[Any]:
    """Those that members made public themselves; the others of a public workspace are in it."""
    shared = SharedRun.objects.standing().filter(run__workspace__deleted_at=None)
    rows = shared.filter(visibility=Visibility.PUBLIC, run__trashed_at=None)
    open_ = Workspace.objects.public()
    cells = Cell.objects.filter(run__in=rows.values("run"))
    workspaces = rows.values("run__workspace")
    public = Searched(workspaces, Run.objects.none(), cells, Series.objects.all())
    for word in words:
        in_workspace = Q(run__workspace__in=open_, run__workspace__name__icontains=word)
        rows = rows.filter(Q(run__in=runs_measuring(word, public)) | in_workspace)
    rows = rows.select_related("run__workspace", "run__server_host")
    return rows.defer(*large_columns("run__"))


def _listed_workspaces(rows: Sequence[Workspace]) -> list[Listed]:
    return [
        Listed(row.pk, row.name, link_to("workspace", row.slug), row.created_at, row.name)
        for row in rows
    ]


def _listed_result_sets(rows: Sequence[ResultSet]) -> list[Listed]:
    # Its id is part of no address: the link may change.
    return [
        Listed(
            row.link, row.title or "Untitled", row.path, row.created_at, _public_name(row.workspace)
        )
        for row in rows
    ]


def _listed_runs(rows: Sequence[SharedRun]) -> list[Listed]:
    names = [each.name for each in rows_of([row.run for row in rows])]
    return [
        Listed(row.link, name, row.path, row.created_at, _public_name(row.run.workspace))
        for row, name in zip(rows, names, strict=True)
    ]


def _public_name(workspace: Workspace) -> str | None:
    return workspace.name if workspace.is_public else None


# By kind, its rows that have every word, and its entries.
_KINDS: dict[
    str,
    tuple[Callable[[Sequence[str]], QuerySet[Any]], Callable[[Sequence[Any]], list[Listed]]],
] = {
    "result-sets": (_result_sets, _listed_result_sets),
    "runs": (_runs, _listed_runs),
    "workspaces": (_workspaces, _listed_workspaces),
}
KINDS = tuple(_KINDS)
