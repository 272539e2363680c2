"""What follows from the points of a comparison: curves, knees, capacity, ratios, changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from backend.analysis.compare.capacity import CapacityRow, capacity_headline, find_capacities
from backend.analysis.compare.comparability import Comparability, judge_comparability
from backend.analysis.compare.ranking import Entrant
from backend.analysis.compare.ratio_table import RatioTable, Sample, entry_of, ratio_table
from backend.analysis.compare.saturation import (
    SaturationRow,
    find_saturation_points,
    saturation_headline,
)
from backend.analysis.compare.trend import Track, list_changes, track_of, trend_headline
from backend.analysis.grouping.grouping import Grouping, group_by_name
from backend.analysis.grouping.points import Point, plain
from backend.analysis.grouping.sweep import Sweep
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
    outcome: Comparability


@dataclass(frozen=True, slots=True)
class Derived:
    """Beside the series of an answer, in the shapes of the figures."""

    curves: dict[str, Any] | None
    knees: tuple[SaturationRow, ...]
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
    grouping: Grouping,
    sweeps: Sequence[Sweep],
    *,
    panels: Mapping[str | None, Panel],
    curves: Mapping[Pool, Curve],
    demands: Demands,
) -> Derived:
    """All that follows. `curves`: those of the points at the ranked place of each panel."""
    sound = [one for one in sweeps if panels[one.group.panel].outcome.sweeps]
    knees, capacity = _loads(query, grouping, sound, demands.relevant)
    tracks = _tracks(
        query, grouping, [one for one in sweeps if panels[one.group.panel].outcome.ranks]
    )
    changes = _changes(query, grouping, tracks, demands.relevant)
    return Derived(
        curves=_curves(sweeps, panels, curves),
        knees=tuple(knees),
        capacity=tuple(capacity),
        ratios=_ratios(query, grouping, sweeps, demands),
        changes=tuple(changes),
        finding=_finding(query, grouping, (knees, capacity), (changes, tracks)),
    )


def curve_points(sweeps: Sequence[Sweep], panels: Mapping[str | None, Panel]) -> list[Point]:
    """The points whose curves an answer draws: those at the ranked place."""
    return [
        point
        for sweep in sweeps
        for point in sweep.points
        if point.x is not None and point.x == panels[sweep.group.panel].at
    ]


def _curves(
    sweeps: Sequence[Sweep], panels: Mapping[str | None, Panel], curves: Mapping[Pool, Curve]
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
    query: CompareQuery, grouping: Grouping, sweeps: Sequence[Sweep], relevant: float
) -> tuple[list[SaturationRow], list[CapacityRow]]:
    """Knees, and the highest loads under the limit: along an axis of loads only."""
    if not grouping.x_is_load:
        return [], []
    loads = sorted({float(point.x or 0) for sweep in sweeps for point in sweep.points})
    knees = find_saturation_points(sweeps, axis=grouping.x, relevant=relevant, loads=loads)
    if query.limit is None:
        return knees, []
    return knees, find_capacities(sweeps, limit_us=query.limit, axis=grouping.x, loads=loads)


def _tracks(query: CompareQuery, grouping: Grouping, sweeps: Sequence[Sweep]) -> list[Track]:
    if grouping.x not in _TRENDS or METRICS[query.metric].group == "errors":
        return []
    return [track_of(sweep, query.metric, _unranked(sweep, query.metric)) for sweep in sweeps]


def _unranked(sweep: Sweep, metric: str) -> Callable[[Point], str | None]:
    return lambda point: Entrant(sweep.group.id, sweep.group.label, point).unranked(metric)


def _changes(
    query: CompareQuery, grouping: Grouping, tracks: Sequence[Track], relevant: float
) -> list[dict[str, object]]:
    if not tracks:
        return []
    metric = METRICS[query.metric].as_dict()
    return list_changes(tracks, metric=metric, axis=_TRENDS[grouping.x], relevant=relevant)


def _ratios(
    query: CompareQuery, grouping: Grouping, sweeps: Sequence[Sweep], demands: Demands
) -> RatioTable | None:
    """Servers × workloads, each within its workload; None where there is one workload."""
    covered = set(FIELDS[grouping.x].covers).intersection(WORKLOAD_PARTS)
    if covered or METRICS[query.metric].group == "errors":
        return None
    if len({sweep.group.first.workload.name for sweep in sweeps}) < 2:
        return None
    rows, withheld = _rows(grouping, sweeps), _withheld(query, grouping, sweeps, demands)
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
    at = None if query.at is None or not grouping.x_is_load else float(query.at)
    return ratio_table(entries, better=better, relevant=demands.relevant, baseline=base, at=at)


def _rows(grouping: Grouping, sweeps: Sequence[Sweep]) -> dict[str, str]:
    """What each series is called but for its workload."""
    # One cell of each: places do not name a series, and a series has only so many.
    first = {sweep.group.first.id: sweep.group.id for sweep in sweeps}
    cells = [sweep.group.first for sweep in sweeps]
    groups = group_by_name(cells, replace(grouping, facet=None, without=WORKLOAD_PARTS))
    return {first[cell.id]: one.label for one in groups for cell in one.cells()}


def _withheld(
    query: CompareQuery, grouping: Grouping, sweeps: Sequence[Sweep], demands: Demands
) -> dict[str, str]:
    """Why the series of a workload may not be compared, for those that may not."""
    found = {}
    for name in {sweep.group.first.workload.name for sweep in sweeps}:
        groups = [sweep.group for sweep in sweeps if sweep.group.first.workload.name == name]
        outcome = judge_comparability(
            groups,
            (),
            trials=0,
            grouping=grouping,
            must_match=demands.must_match,
            override=query.override,
        )
        if not outcome.ranks:
            found[name] = outcome.reasons[0]
    return found


def _finding(
    query: CompareQuery,
    grouping: Grouping,
    loads: tuple[Sequence[SaturationRow], Sequence[CapacityRow]],
    trend: tuple[Sequence[Mapping[str, object]], Sequence[Track]],
) -> str | None:
    """The sentence of the asked view; None where it is the ranking's."""
    knees, capacity = loads
    changes, tracks = trend
    if tracks:
        metric = METRICS[query.metric].as_dict()
        return trend_headline(changes, tracks, metric=metric, axis=_TRENDS[grouping.x])
    if capacity and query.limit is not None:
        return capacity_headline(capacity, limit_us=query.limit, axis=grouping.x)
    if knees and query.view == "tradeoff":
        return saturation_headline(knees, axis=grouping.x)
    return None
