"""What follows from the points of a comparison: curves, knees, capacity, ratios, changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from backend.analysis.compare.capacity import CapacityRow, capacity_finding, capacity_of
from backend.analysis.compare.comparability import Outcome, outcome_of
from backend.analysis.compare.ranking import Entrant
from backend.analysis.compare.ratio_table import RatioTable, Sample, entry_of, ratio_table
from backend.analysis.compare.saturation import KneeRow, knee_finding, knees_of
from backend.analysis.compare.trend import Track, changes_of, track_of, trend_finding
from backend.analysis.grouping.grouping import Plan, grouped_by_name
from backend.analysis.grouping.points import Point, plain
from backend.analysis.grouping.sweep import Swept
from backend.analysis.loading.histogram_cache import Curve, Pool, pool_of
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.factors import DEFAULT_MUST_MATCH
from backend.analysis.query.fields import FIELDS, Value
from backend.analysis.query.metrics import METRICS

WORKLOAD_PARTS = ("workload", "payload", "request")
_TRENDS: dict[str, Literal["version", "date"]] = {"version": "version", "date": "date"}


@dataclass(frozen=True, slots=True)
class Demands:
    """What the workspaces ask: from which share on a difference matters, what must match."""

    relevant: float = 0.02
    must_match: Collection[str] = DEFAULT_MUST_MATCH


@dataclass(frozen=True, slots=True)
class Panel:
    """Where the series of a panel are ranked, and what may be said of them."""

    at: Value
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Derived:
    """Beside the series of an answer, in the shapes of the figures."""

    curves: dict[str, Any] | None
    knees: tuple[KneeRow, ...]
    capacity: tuple[CapacityRow, ...]
    ratios: RatioTable | None
    changes: tuple[dict[str, object], ...]
    # The sentence that suits the asked view, where it is not that of the ranking.
    finding: str | None

    def as_dict(self, query: CompareQuery) -> dict[str, Any]:
        limit = query.limit
        rows = [row.as_dict() for row in self.capacity]
        return {
            "curves": self.curves,
            "knees": [row.as_dict() for row in self.knees],
            "capacity": None if limit is None else {"limit_us": plain(limit), "rows": rows},
            "ratios": None if self.ratios is None else self.ratios.as_dict(),
            "changes": list(self.changes),
        }


def derive(
    query: CompareQuery,
    plan: Plan,
    sweeps: Sequence[Swept],
    *,
    panels: Mapping[str | None, Panel],
    curves: Mapping[Pool, Curve],
    demands: Demands,
) -> Derived:
    """All that follows. `curves`: those of the points at the ranked place of each panel."""
    sound = [one for one in sweeps if panels[one.group.panel].outcome.sweeps]
    knees, capacity = _loads(query, plan, sound, demands.relevant)
    tracks = _tracks(query, plan, [one for one in sweeps if panels[one.group.panel].outcome.ranks])
    changes = _changes(query, plan, tracks, demands.relevant)
    return Derived(
        curves=_curves(sweeps, panels, curves),
        knees=tuple(knees),
        capacity=tuple(capacity),
        ratios=_ratios(query, plan, sweeps, demands),
        changes=tuple(changes),
        finding=_finding(query, plan, (knees, capacity), (changes, tracks)),
    )


def curve_points(sweeps: Sequence[Swept], panels: Mapping[str | None, Panel]) -> list[Point]:
    """The points whose curves an answer draws: those at the ranked place."""
    return [
        point
        for sweep in sweeps
        for point in sweep.points
        if point.x is not None and point.x == panels[sweep.group.panel].at
    ]


def _curves(
    sweeps: Sequence[Swept], panels: Mapping[str | None, Panel], curves: Mapping[Pool, Curve]
) -> dict[str, Any] | None:
    """Merged histograms as curves; a series without them is not there."""
    drawn = []
    for sweep in sweeps:
        for point in curve_points([sweep], panels):
            curve = curves.get(pool_of(point.cells))
            if curve is not None and curve["points"]:
                drawn.append({"series": sweep.group.id, **curve})
    places = {plain(panel.at) for panel in panels.values() if panel.at is not None}
    return (
        {"at": next(iter(places)) if len(places) == 1 else None, "series": drawn} if drawn else None
    )


def _loads(
    query: CompareQuery, plan: Plan, sweeps: Sequence[Swept], relevant: float
) -> tuple[list[KneeRow], list[CapacityRow]]:
    """Knees, and the highest loads under the limit: along an axis of loads only."""
    if not plan.x_is_load:
        return [], []
    loads = sorted({float(point.x or 0) for sweep in sweeps for point in sweep.points})
    knees = knees_of(sweeps, axis=plan.x, relevant=relevant, loads=loads)
    if query.limit is None:
        return knees, []
    return knees, capacity_of(sweeps, limit_us=query.limit, axis=plan.x, loads=loads)


def _tracks(query: CompareQuery, plan: Plan, sweeps: Sequence[Swept]) -> list[Track]:
    if plan.x not in _TRENDS or METRICS[query.metric].group == "errors":
        return []
    return [track_of(sweep, query.metric, _unranked(sweep, query.metric)) for sweep in sweeps]


def _unranked(sweep: Swept, metric: str) -> Callable[[Point], str | None]:
    return lambda point: Entrant(sweep.group.id, sweep.group.label, point).unranked(metric)


def _changes(
    query: CompareQuery, plan: Plan, tracks: Sequence[Track], relevant: float
) -> list[dict[str, object]]:
    if not tracks:
        return []
    metric = METRICS[query.metric].as_dict()
    return changes_of(tracks, metric=metric, axis=_TRENDS[plan.x], relevant=relevant)


def _ratios(
    query: CompareQuery, plan: Plan, sweeps: Sequence[Swept], demands: Demands
) -> RatioTable | None:
    """Servers × workloads, each within its workload; None where there is one workload."""
    covered = set(FIELDS[plan.x].covers).intersection(WORKLOAD_PARTS)
    if covered or METRICS[query.metric].group == "errors":
        return None
    if len({sweep.group.first.workload.name for sweep in sweeps}) < 2:
        return None
    rows, withheld = _rows(plan, sweeps), _withheld(query, plan, sweeps, demands)
    entries = []
    for sweep in sweeps:
        entry = entry_of(
            sweep,
            row=rows[sweep.group.id],
            metric=query.metric,
            unranked=_unranked(sweep, query.metric),
        )
        if why := withheld.get(entry.workload):
            samples = {load: Sample((), why) for load in entry.samples}
            entry = replace(entry, samples=samples)
        entries.append(entry)
    base = next((rows[one.group.id] for one in sweeps if one.group.id == query.baseline), None)
    better = METRICS[query.metric].better
    at = None if query.at is None or not plan.x_is_load else float(query.at)
    return ratio_table(entries, better=better, relevant=demands.relevant, baseline=base, at=at)


def _rows(plan: Plan, sweeps: Sequence[Swept]) -> dict[str, str]:
    """What each series is called but for its workload."""
    # One cell of each: places do not name a series, and a series has only so many.
    first = {sweep.group.first.id: sweep.group.id for sweep in sweeps}
    cells = [sweep.group.first for sweep in sweeps]
    groups = grouped_by_name(cells, replace(plan, facet=None, without=WORKLOAD_PARTS))
    return {first[cell.id]: one.label for one in groups for cell in one.cells()}


def _withheld(
    query: CompareQuery, plan: Plan, sweeps: Sequence[Swept], demands: Demands
) -> dict[str, str]:
    """Why the series of a workload may not be compared, for those that may not."""
    found = {}
    for name in {sweep.group.first.workload.name for sweep in sweeps}:
        groups = [sweep.group for sweep in sweeps if sweep.group.first.workload.name == name]
        outcome = outcome_of(
            groups,
            (),
            trials=0,
            plan=plan,
            must_match=demands.must_match,
            override=query.override,
        )
        if not outcome.ranks:
            found[name] = outcome.reasons[0]
    return found


def _finding(
    query: CompareQuery,
    plan: Plan,
    loads: tuple[Sequence[KneeRow], Sequence[CapacityRow]],
    trend: tuple[Sequence[Mapping[str, object]], Sequence[Track]],
) -> str | None:
    """The sentence of the asked view; None where it is the ranking's."""
    knees, capacity = loads
    changes, tracks = trend
    if tracks:
        metric = METRICS[query.metric].as_dict()
        return trend_finding(changes, tracks, metric=metric, axis=_TRENDS[plan.x])
    if capacity and query.limit is not None:
        return capacity_finding(capacity, limit_us=query.limit, axis=plan.x)
    if knees and query.view == "tradeoff":
        return knee_finding(knees, axis=plan.x)
    return None
