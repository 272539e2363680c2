"""Listing runs page by page, with what a list shows of each."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from backend.runs.catalogue.naming import run_name, sort_names, trial_count_text
from backend.runs.catalogue.run_order import EVERY_CELL, RunOrder, best_throughput_of
from backend.runs.catalogue.run_states import STATE_WORDS, partial_runs, state_of
from backend.runs.catalogue.search import RunSearch
from backend.runs.catalogue.text_search import in_workspaces
from backend.runs.database.bulk import among
from backend.runs.database.cursors import Page
from backend.runs.database.read_router import reading_connection
from backend.runs.models import Cell, Run, Series, Trial


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run in a list. `trials` counts all of them, warm-ups included.

    `throughput_rps`: of its best load point, as its page gives it, among those of the server,
    workload and tool that were asked for; None if no trial has one.
    """

    id: UUID
    workspace: str
    started_at: datetime | None
    recorded_at: datetime
    interrupted: bool
    # More trials are expected.
    is_open: bool
    labels: dict[str, Any]
    trials: int
    failed_trials: int
    warmups: int
    # Some results of its upload could not be read.
    is_partial: bool
    servers: tuple[str, ...]
    workloads: tuple[str, ...]
    tools: tuple[str, ...]
    server_host: str | None
    # Such as "caddy 1.27.1 · json · wrk".
    name: str
    throughput_rps: float | None

    @property
    def counted_trials(self) -> int:
        """Without the warm-ups."""
        return self.trials - self.warmups

    @property
    def trials_text(self) -> str:
        """`36 trials and 12 warm-ups`."""
        return trial_count_text(self.trials, self.warmups)

    @property
    def state(self) -> str:
        """Of the states that a search knows, the one that a reader must know first."""
        return state_of(
            is_open=self.is_open,
            is_interrupted=self.interrupted,
            has_failed=self.failed_trials > 0,
            is_partial=self.is_partial,
        )

    @property
    def state_text(self) -> str:
        """The state as people say it."""
        return STATE_WORDS[self.state]


# Of the runs of one page: each may be a series of its own, whose names are read.
PAGE_TRIALS = 50_000
EVERY_RUN = RunSearch()
# A list of runs has the last arrival first, so that nothing that comes is missed. What is called
# the latest run is the one that was measured last.
LAST_RECEIVED = RunOrder()
LAST_MEASURED = RunOrder("started")


def run_page(
    workspace_ids: Iterable[UUID],
    *,
    after: str = "",
    limit: int = 50,
    search: RunSearch = EVERY_RUN,
    order: RunOrder = LAST_RECEIVED,
    most_trials: int | None = None,
) -> Page[RunRow]:
    """The runs of these workspaces that `search` selects, after the cursor. Raises BadCursor.

    The page ends before a run with which it would have more than PAGE_TRIALS counted trials, or
    with `most_trials`, more than these, warm-ups included; it has one run at least.
    """
    runs = _first_rows(list(workspace_ids), search, order, after, limit + 1)
    on_page = fitting([run.counted_trials for run in runs[:limit]], PAGE_TRIALS)
    rows = rows_of(runs[:on_page], search.cells())
    if most_trials is not None:
        rows = rows[: fitting([row.trials for row in rows], most_trials)]
    following = order.cursor(runs[len(rows) - 1]) if len(runs) > len(rows) else None
    return Page(tuple(rows), following)


def fitting(counts: Sequence[int], most: int) -> int:
    """How many of the first counts sum up to `most` at the most; one at least."""
    return max(1, sum(total <= most for total in accumulate(counts)))


def _first_rows(
    workspace_ids: list[UUID], search: RunSearch, order: RunOrder, after: str, most: int
) -> list[Run]:
    """The first runs that the search selects, after the cursor, with what a list shows."""
    rows, searched = Run.objects.filter(workspace__in=workspace_ids), in_workspaces(workspace_ids)
    shown = rows.select_related("workspace", "server_host").only(*_SHOWN)
    if search.q and order.is_by_time:
        # A common word is in so many runs that to sort them takes long. Mostly the first runs have
        # enough of it, so they are looked at by themselves.
        first = list(order.applied(rows, after).values_list("pk", flat=True)[: 2 * most])
        among_first = search.applied_to_few(shown, first, workspace_ids)
        selected = list(order.applied(among_first, "")[:most])
        if len(selected) == most or len(first) < 2 * most:
            return selected
    cells = search.cells()
    if order.sort == "throughput" and cells and _leaves_series_out(search, workspace_ids):
        runs = search.without_cells().applied(rows, searched)
        own = Q(series__workspace__in=workspace_ids, run__in=runs)
        best = order.best_of_runs(Cell.objects.filter(cells, own), after)
        return _with_sort_values(shown, dict(best[:most]))
    return list(order.applied(search.applied(shown, searched), after)[:most])


def _leaves_series_out(search: RunSearch, workspace_ids: list[UUID]) -> bool:
    """Whether runs may have load points that the search leaves out, so that their best throughput
    is not the one that counts. Most workspaces use one load tool."""
    rows = Series.objects.filter(workspace__in=workspace_ids)
    return rows.exclude(search.series()).exists()


def _with_sort_values(shown: QuerySet[Run], values: Mapping[UUID, float]) -> list[Run]:
    """The runs that have these values, in their order."""
    runs = shown.in_bulk(values)
    for run_id, run in runs.items():
        run.sort_value = values[run_id]  # type: ignore[attr-defined]  # as an order annotates it
    return [runs[run_id] for run_id in values if run_id in runs]


def run_count(workspace_ids: Iterable[UUID], search: RunSearch = EVERY_RUN) -> int:
    """How many runs of these workspaces `search` selects."""
    searched = in_workspaces(workspace_ids)
    return search.applied(searched.runs, searched).count()


@dataclass(slots=True)
class _Measured:
    """What the series and trials of a run say."""

    servers: dict[str, None] = field(default_factory=dict)
    labels: dict[str, None] = field(default_factory=dict)
    workloads: dict[str, None] = field(default_factory=dict)
    tools: dict[str, None] = field(default_factory=dict)
    trials: int = 0
    failed: int = 0
    warmups: int = 0
    is_partial: bool = False


# The columns that `_row` reads: a run has many more, and large ones.
_SHOWN = (
    *("started_at", "recorded_at", "interrupted", "is_open", "labels", "counted_trials"),
    *("workspace__slug", "server_host__name", "server_host__cpu_model"),
)
# What runs measured, in the order of names. Each series is counted once for a run before it is
# joined: a run has several load points of it.
_NAMES = """
SELECT measured.run_id, server.name, server.version, workload.name, series.tool
FROM (SELECT DISTINCT run_id, series_id FROM runs_cell WHERE run_id = ANY(%s)) measured
JOIN runs_series series ON series.id = measured.series_id
JOIN runs_server server ON server.id = series.server_id
JOIN runs_workload workload ON workload.id = series.workload_id
ORDER BY server.name, server.version, workload.name, series.tool
"""


def rows_of(runs: Sequence[Run], cells: Q = EVERY_CELL) -> list[RunRow]:
    """The runs as lists show them. `cells`: the load points whose throughput counts."""
    if not runs:
        return []
    measured = _measured_in(runs)
    best = best_throughput_of([run.pk for run in runs], cells)
    return [_row(run, measured[run.pk], best.get(run.pk)) for run in runs]


def names_of_runs(run_ids: Sequence[UUID]) -> dict[UUID, str]:
    """By run, what it measured, such as "caddy 1.27.1 · json · wrk"."""
    return {run_id: _name(measured) for run_id, measured in _named_in(run_ids).items()}


def _name(measured: _Measured) -> str:
    return run_name(measured.labels, measured.workloads, measured.tools)


def _named_in(run_ids: Sequence[UUID]) -> dict[UUID, _Measured]:
    """By run, the names of what it measured."""
    by_run: dict[UUID, _Measured] = defaultdict(_Measured)
    with reading_connection().cursor() as cursor:
        cursor.execute(_NAMES, [list(run_ids)])
        for run_id, server, version, workload, tool in cursor.fetchall():
            own = by_run[run_id]
            own.servers[server] = own.workloads[workload] = own.tools[tool] = None
            own.labels[f"{server} {version or ''}".strip()] = None
    return by_run


def _measured_in(runs: Sequence[Run]) -> dict[UUID, _Measured]:
    run_ids = [run.pk for run in runs]
    by_run = _named_in(run_ids)
    # Separate statements, each answered by an index: joined to the page they would count the trials
    # of every run.
    trials = Trial.objects.filter(among("run", run_ids)).order_by().values_list("run_id")
    counts = trials.annotate(count=Count("*"), warmups=Count("warmup", filter=Q(warmup=True)))
    for run_id, count, warmups in counts:
        own = by_run[run_id]
        own.trials, own.warmups = count, warmups
    for run_id, failed in trials.exclude(error="").annotate(failed=Count("*")):
        by_run[run_id].failed = failed
    for run_id in partial_runs(run_ids):
        by_run[run_id].is_partial = True
    return by_run


def _row(run: Run, measured: _Measured, best_rps: float | None) -> RunRow:
    return RunRow(
        id=run.pk,
        workspace=run.workspace.slug,
        started_at=run.started_at,
        recorded_at=run.recorded_at,
        interrupted=run.interrupted,
        is_open=run.is_open,
        labels=run.labels,
        trials=measured.trials,
        failed_trials=measured.failed,
        warmups=measured.warmups,
        is_partial=measured.is_partial,
        servers=tuple(sort_names(measured.servers)),
        workloads=tuple(sort_names(measured.workloads)),
        tools=tuple(sort_names(measured.tools)),
        server_host=None if run.server_host is None else str(run.server_host),
        name=_name(measured),
        throughput_rps=best_rps,
    )
