"""What a comparison is made of: the cells of a query, loaded, grouped and computed into points."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from backend.analysis.compare.entrant import Entrant
from backend.analysis.compare.ratios import Yardstick, floor_of
from backend.analysis.grouping.best import choose_best
from backend.analysis.grouping.fired_checks import Dismissals, undismissed_checks
from backend.analysis.grouping.grouping import Grouping, SeriesGroup, choose_grouping
from backend.analysis.grouping.outputs import count_outputs_once
from backend.analysis.grouping.points import Point, point_of
from backend.analysis.grouping.series import (
    MAX_SERIES,
    fill_groups,
    find_series_name,
    group_cells,
)
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.grouping.unread import (
    UnreadSeries,
    find_unplaced_series,
    find_unread_series,
)
from backend.analysis.loading.histogram_cache import merged_percentiles
from backend.analysis.loading.rows import fetch_cells, fetch_dismissals, fetch_trials
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.factors import MustMatch
from backend.analysis.query.field import Value, ordered
from backend.analysis.query.metrics import METRICS, Metric, shown
from backend.analysis.query.records import LoadedCell, LoadedRun
from backend.noise.models import HostNoise
from backend.noise.reading import noise_of_hosts
from backend.runs.checks import withheld_metrics
from backend.stats.thresholds import RELEVANT_SHARE


@dataclass(frozen=True, slots=True)
class Demands:
    """The settings of the workspaces: the smallest difference that matters, and what must match."""

    relevant: float = RELEVANT_SHARE
    must_match: MustMatch = field(default_factory=MustMatch)


@dataclass(frozen=True, slots=True)
class Gathered:
    """The series of a query with their figures.

    `query`: by current names. `left_out`: sentences on what is not shown. `not_read`: the series
    with trials that are in no figure.
    """

    query: CompareQuery
    grouping: Grouping
    runs: tuple[LoadedRun, ...]
    sweeps: tuple[Sweep, ...]
    left_out: tuple[str, ...]
    not_read: tuple[UnreadSeries, ...]
    dismissals: Dismissals
    # Of the hosts of the points, as far as it is known.
    noises: tuple[HostNoise, ...] = ()
    # The name of the asked baseline, also where the filters leave it out.
    baseline_name: str | None = None
    # The series beyond the best, which are too many to compare.
    beyond: tuple[SeriesGroup, ...] = ()
    # What each point has beside the core and the metric of the query.
    more_metrics: tuple[str, ...] = ()

    @property
    def metric(self) -> Metric:
        return METRICS[self.query.metric]

    @property
    def places(self) -> list[Value]:
        """The places on the axis, in its order."""
        return places_of(self.sweeps)

    @property
    def points(self) -> list[Point]:
        return points_of(self.sweeps)

    @property
    def missing(self) -> tuple[UnreadSeries, ...]:
        """The series of which nothing is shown, because no output could be read."""
        shown_ids = {sweep.group.id for sweep in self.sweeps}
        return tuple(
            row for row in self.not_read if row.x is not None and row.series not in shown_ids
        )

    @property
    def demands(self) -> Demands:
        """The largest of the workspaces' thresholds, and all that any of them demands."""
        if not self.runs:
            return Demands()
        return Demands(
            relevant=max(run.relevant_share for run in self.runs),
            must_match=MustMatch({name for run in self.runs for name in run.must_match}),
        )

    def entrants(self, sweep: Sweep) -> list[Entrant]:
        """A series at each of its points, in the order of the axis."""
        return [self.entrant(sweep, point) for point in sweep.points]

    def entrant(self, sweep: Sweep, point: Point) -> Entrant:
        """A series at one of its points, with the error checks that forbid a ranking."""
        withheld = withheld_metrics(undismissed_checks(point, self.dismissals))
        return Entrant(sweep.group.id, sweep.group.label, point, withheld, self.query.limit)

    def yardstick(
        self, *, families: int = 1, metric: str | None = None, relevant: float | None = None
    ) -> Yardstick:
        """The rules for the ratios of a page with `families` panels, columns, metrics or loads.

        `metric`, `relevant`: where the ratios are of another metric than that of the page, or where
        another share matters than that of the workspaces.
        """
        held = METRICS[metric or self.query.metric]
        floor = floor_of(self.noises) if held.group == "rate" else None
        share = self.demands.relevant if relevant is None else relevant
        return Yardstick(held.better, share, floor, families)


def gather(
    query: CompareQuery, workspace_ids: Sequence[uuid.UUID], more_metrics: tuple[str, ...] = ()
) -> Gathered:
    """Load and group the cells of `query`, and compute their points.

    `more_metrics`: what is wanted of each point beside the core and the metric of the query.
    Raises NotVisible and UnknownValue.
    """
    loaded = fetch_cells(query, workspace_ids)
    grouping = choose_grouping(loaded.query, loaded.cells)
    groups, groups_left_out = group_cells(loaded.cells, grouping)
    metrics = _metrics(loaded.query, loaded.cells, more_metrics)
    trials = fetch_trials([c for group in groups for c in group.cells()], metrics)
    dismissals = fetch_dismissals([run.id for run in loaded.runs])
    planned = groups
    filled = groups = fill_groups(planned, count_outputs_once(trials.cells), grouping)
    if len(filled) > MAX_SERIES:
        planned, groups = _best(planned, filled, loaded.query, grouping, dismissals)
    sweeps = _sweeps(groups, metrics, dismissals)
    return Gathered(
        query=loaded.query,
        grouping=grouping,
        runs=loaded.runs,
        sweeps=tuple(sweeps),
        left_out=(*loaded.left_out, *groups_left_out, *trials.left_out),
        not_read=(
            *find_unread_series(planned, {g.id: g.label for g in groups}, trials.unread),
            *find_unplaced_series(loaded.cells, grouping),
        ),
        dismissals=dismissals,
        noises=_noises(trials.cells, workspace_ids),
        baseline_name=_baseline_name(loaded.query, grouping, sweeps, workspace_ids),
        beyond=_beyond(filled, groups),
        more_metrics=more_metrics,
    )


def _sweeps(
    groups: Sequence[SeriesGroup], metrics: Sequence[str], dismissals: Dismissals
) -> list[Sweep]:
    """The series with the figures of their points."""
    merged = merged_percentiles(cells for group in groups for cells in group.points.values())
    return [
        Sweep(
            group,
            tuple(point_of(x, at, merged, metrics, dismissals) for x, at in group.points.items()),
        )
        for group in groups
    ]


def _beyond(filled: Sequence[SeriesGroup], shown: Sequence[SeriesGroup]) -> tuple[SeriesGroup, ...]:
    """The series that are not shown."""
    shown_ids = {group.id for group in shown}
    return tuple(group for group in filled if group.id not in shown_ids)


def _best(
    planned: Sequence[SeriesGroup],
    filled: Sequence[SeriesGroup],
    query: CompareQuery,
    grouping: Grouping,
    dismissals: Dismissals,
) -> tuple[list[SeriesGroup], list[SeriesGroup]]:
    """The best of the filled series, labelled again, and the planned ones that are not left out."""
    best = choose_best(filled, METRICS[query.metric], dismissals, baseline=query.baseline)
    left_out = {group.id for group in filled} - best
    shown = [group for group in filled if group.id in best]
    cells = [cell for group in shown for cell in group.cells()]
    return (
        [group for group in planned if group.id not in left_out],
        fill_groups(shown, cells, grouping),
    )


def _baseline_name(
    query: CompareQuery,
    grouping: Grouping,
    sweeps: Sequence[Sweep],
    workspace_ids: Sequence[uuid.UUID],
) -> str | None:
    """The name of the asked baseline; None if none is asked for, or no run has it."""
    if query.baseline is None:
        return None
    for sweep in sweeps:
        if sweep.group.id == query.baseline:
            return sweep.group.label
    unfiltered = replace(query, filters={}, since=None, until=None)
    cells = fetch_cells(unfiltered, workspace_ids).cells
    return find_series_name(cells, grouping, query.baseline)


def _noises(
    cells: Iterable[LoadedCell], workspace_ids: Sequence[uuid.UUID]
) -> tuple[HostNoise, ...]:
    # Many cells are of one series. By integers: a UUID takes a call to be hashed.
    all_series = {cell.series.id.int: cell.series for cell in cells}.values()
    hosts = [series.server_host or series.client_host for series in all_series]
    host_ids = {host.id for host in hosts if host is not None}
    return tuple(noise_of_hosts(workspace_ids, host_ids).values()) if host_ids else ()


def points_of(sweeps: Iterable[Sweep]) -> list[Point]:
    return [point for sweep in sweeps for point in sweep.points]


def places_of(sweeps: Iterable[Sweep]) -> list[Value]:
    return ordered({point.x for point in points_of(sweeps)})


def _metrics(
    query: CompareQuery, cells: Sequence[LoadedCell], more: Sequence[str]
) -> tuple[str, ...]:
    """The metrics of every point; the share of the offered rate where one was offered."""
    asked = tuple(dict.fromkeys((*shown(query.metric), *more)))
    has_rates = any(cell.rate_rps is not None for cell in cells)
    return (*asked, "achieved") if has_rates and "achieved" not in asked else asked
