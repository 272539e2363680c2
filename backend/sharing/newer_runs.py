"""Counting what came after a result set was made: runs that match its query, and corrections."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from datetime import datetime
from functools import partial

from django.db.models import Q

from backend.analysis.kept_figures import read_figures
from backend.analysis.loading.findings import find
from backend.analysis.loading.rows import MAX_RUNS
from backend.analysis.loading.selection import select
from backend.analysis.loading.validation import UnknownValue
from backend.analysis.query.compare_query import CompareQuery, QueryError
from backend.runs.models import Correction, Run
from backend.sharing.models import ResultSet
from backend.sharing.reading import saved_query

# Counting stops here.
MOST = MAX_RUNS


def newer_runs(result_set: ResultSet) -> int | None:
    """Matching runs recorded since, at most MOST; None if the query is not understood now.

    A frozen query names its runs. It is asked without them, for the same servers and workloads.
    """
    return count_newer_runs([result_set])[result_set.pk]


def may_tell_newer_runs(result_set: ResultSet, readable: Container[uuid.UUID]) -> bool:
    """Whether a reader of the `readable` workspaces may learn how many there are.

    A frozen set shows its own runs only, so the count would tell of runs that are not shared. A
    live one shows the newer runs themselves.
    """
    return not result_set.is_frozen or result_set.workspace_id in readable


def count_newer_runs(result_sets: Sequence[ResultSet]) -> dict[uuid.UUID, int | None]:
    """By primary key, what `newer_runs` says of each: runs are read once, and equal queries asked
    once."""
    newest_first = sorted(result_sets, key=lambda each: each.created_at, reverse=True)
    # The oldest set of each workspace: it comes last.
    since = {each.workspace_id: each.created_at for each in newest_first}
    newest = {workspace: _Newest(workspace, oldest) for workspace, oldest in since.items()}
    return {each.pk: _count(each, newest[each.workspace_id]) for each in result_sets}


def find_newer_runs(
    result_sets: Iterable[ResultSet], *, viewer: str
) -> dict[uuid.UUID, int | None]:
    """As `count_newer_runs`, kept until the data of the workspaces change.

    A large workspace is searched in a slot of the viewer. Raises TooManyAnswers and AnswersBusy.
    """
    of_workspace = defaultdict(list)
    for each in result_sets:
        of_workspace[each.workspace].append(each)
    counts: dict[uuid.UUID, int | None] = {}
    for workspace, own in of_workspace.items():
        question = ("newer runs", *(each.pk for each in own))
        counts |= find(workspace, question, partial(count_newer_runs, own), viewer=viewer)
    return counts


def find_matching_since(result_set: ResultSet, *, viewer: str) -> list[uuid.UUID]:
    """Matching runs recorded since, at most MOST; none for a query of another time.

    Kept and searched as `find_newer_runs`.
    """

    def search() -> list[uuid.UUID]:
        newest = _Newest(result_set.workspace_id, result_set.created_at)
        try:
            return newest.matching_since(result_set)
        except QueryError:
            return []

    return find(result_set.workspace, ("matching since", result_set.pk), search, viewer=viewer)


def _count(result_set: ResultSet, newest: _Newest) -> int | None:
    try:
        return len(newest.matching_since(result_set))
    except QueryError:
        return None


class _Newest:
    """The runs that a workspace received last, at most MOST, and which of them match a query.

    Those since any later time are among them. By receipt, not by measuring: a run that came after a
    result set was made is not in it, whenever it was measured.
    """

    def __init__(self, workspace_id: uuid.UUID, since: datetime) -> None:
        rows = Run.objects.filter(workspace_id=workspace_id, recorded_at__gt=since)
        newest = rows.order_by("-recorded_at").values_list("pk", "recorded_at")[:MOST]
        self._workspace_id = workspace_id
        self._recorded_at = dict(newest)
        self._matching_of: dict[str, list[uuid.UUID]] = {}

    def matching_since(self, result_set: ResultSet) -> list[uuid.UUID]:
        """As the function of this name."""
        since = result_set.created_at
        if all(recorded_at <= since for recorded_at in self._recorded_at.values()):
            return []
        query = _query_without_runs(result_set)
        if query is None:
            return []
        return [pk for pk in self._matching(query) if self._recorded_at[pk] > since]

    def _matching(self, query: CompareQuery) -> list[uuid.UUID]:
        key = query.canonical()
        if key not in self._matching_of:
            among_newest = query.with_filters(run=self._recorded_at)
            self._matching_of[key] = _matching(among_newest, self._workspace_id)
        return self._matching_of[key]


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


def _query_without_runs(result_set: ResultSet) -> CompareQuery | None:
    """None for a live query that names its runs: it never shows another run."""
    query = saved_query(result_set)
    if not query.run_ids:
        return query
    if not result_set.is_frozen:
        return None
    all_series = read_figures(result_set.frozen_snapshot()["figures"]).series
    return query.with_filters(
        run=(),
        server=query.wanted("server") or _names(series.server for series in all_series),
        workload=query.wanted("workload") or _names(series.workload for series in all_series),
    )


def _names(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name is not None}))


def corrections_since(result_set: ResultSet) -> int:
    """How many were made or undone since; 0 for a live result set, which shows them."""
    if not result_set.is_frozen:
        return 0
    since = result_set.created_at
    rows = Correction.objects.filter(
        Q(made_at__gt=since) | Q(undone_at__gt=since), run__workspace=result_set.workspace_id
    )
    corrected = Counter(rows.values_list("run", flat=True))
    # Most sets have none: then their snapshot is not read.
    if not corrected:
        return 0
    try:
        query = CompareQuery.parse(result_set.frozen_snapshot()["query"])
    except QueryError:
        return 0
    return sum(corrected[run] for run in query.run_ids)
