"""Counting runs that were recorded after a result set was made and match its query."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from backend.analysis.figures import read_figures
from backend.analysis.loading.rows import MAX_RUNS
from backend.analysis.loading.selection import select
from backend.analysis.loading.validation import UnknownValue
from backend.analysis.query.compare_query import CompareQuery, QueryError
from backend.errors import LoadsheetError
from backend.runs.models import Run
from backend.sharing.models import ResultSet
from backend.sharing.reading import saved_query

# Counting stops here.
MOST = MAX_RUNS


def newer_runs(result_set: ResultSet) -> int | None:
    """Matching runs recorded since, at most MOST; None where the query is not understood now.

    A frozen query names its runs. It is asked without them, for the same servers and workloads.
    """
    try:
        return len(matching_since(result_set))
    except QueryError:
        return None


def matching_since(result_set: ResultSet) -> list[uuid.UUID]:
    """Matching runs recorded since, at most MOST. Raises QueryError for a query of another time."""
    recent = _recorded_since(result_set)
    if not recent:
        return []
    try:
        query = _query_without_runs(result_set).with_filters(run=recent)
    except _NamesItsRuns:
        return []
    return _matching(query, result_set.workspace_id)


def _matching(query: CompareQuery | None, workspace_id: uuid.UUID) -> list[uuid.UUID]:
    """The runs of the query that have a cell that it shows."""
    while query is not None:
        try:
            selection = select(query, [workspace_id])
        except UnknownValue as unknown:
            # With its last run a server leaves the workspace, and so the query.
            query = unknown.rest
            continue
        cells = selection.cells().filter(run__in=selection.chosen_runs(), trial_count__gt=0)
        return list(cells.order_by().values_list("run", flat=True).distinct())
    return []


class _NamesItsRuns(LoadsheetError):
    """A live query that names its runs never shows another run."""


def _recorded_since(result_set: ResultSet) -> list[uuid.UUID]:
    rows = Run.objects.filter(
        workspace_id=result_set.workspace_id, recorded_at__gt=result_set.created_at
    )
    return list(rows.order_by("-recorded_at").values_list("pk", flat=True)[:MOST])


def _query_without_runs(result_set: ResultSet) -> CompareQuery:
    query = saved_query(result_set)
    if not query.run_ids:
        return query
    if not result_set.is_frozen:
        raise _NamesItsRuns
    all_series = read_figures(result_set.frozen_snapshot()["figures"]).series
    return query.with_filters(
        server=query.wanted("server") or _names(series.server for series in all_series),
        workload=query.wanted("workload") or _names(series.workload for series in all_series),
    )


def _names(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name is not None}))
