"""What follows from the points of a comparison: curves, saturation, capacity, ratios, changes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from backend.analysis import figures
from backend.analysis.compare.capacity import (
    LIMITED,
    CapacityRow,
    capacity_headline,
    find_capacities,
)
from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.decision import Decision, doubts_of
from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.headline import Headline
from backend.analysis.compare.panels import (
    Judgement,
    Panel,
    combine,
    combine_workloads,
    judge_workloads,
)
from backend.analysis.compare.ratio_table import Entry, RatioTable, entry_of, make_ratio_table
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.compare.saturation import (
    SaturationRow,
    find_saturation_points,
    saturation_doubts,
    saturation_headline,
)
from backend.analysis.compare.trend import (
    LevelChange,
    Track,
    VersionPair,
    join_pairs,
    list_changes,
    pair_versions,
    track_of,
    trend_doubts,
    trend_headline,
)
from backend.analysis.grouping.grouping import TREND_AXES
from backend.analysis.grouping.points import plain, plain_load
from backend.analysis.grouping.series import group_by_name
from backend.analysis.grouping.sweep import Sweep, load_of
from backend.analysis.loading.histogram_cache import curves, pool_of
from backend.analysis.query.field import Value
from backend.analysis.query.fields import COVERS, FIELDS
from backend.stats.changes import LEAST_POSITIONS
from backend.stats.replicates import Units

WORKLOAD_PARTS = tuple(field.identity for field in FIELDS.values() if field.of == "workload")


@dataclass(frozen=True, slots=True)
class RatioView:
    """Servers × workloads, and whether the series of each workload may be compared."""

    table: RatioTable
    comparability: Comparability

    def to_record(self) -> figures.Ratios:
        return self.table.to_record(self.comparability)


@dataclass(frozen=True, slots=True)
class Views:
    """What an answer has beside its series."""

    curves: figures.Curves | None
    saturation: tuple[SaturationRow, ...]
    limit_us: float | None
    capacity: tuple[CapacityRow, ...]
    ratios: RatioView | None
    # Of each series along versions or dates, where that is the axis.
    tracks: tuple[Track, ...]
    changes: tuple[LevelChange, ...]
    # Of the servers with two versions, where versions are the axis.
    pairs: tuple[VersionPair, ...] = ()

    @property
    def unpaired(self) -> list[Track]:
        """The tracks that are no pair of versions."""
        paired = {pair.track.series for pair in self.pairs}
        return [track for track in self.tracks if track.series not in paired]

    def capacity_record(self) -> figures.Capacity | None:
        """None if no limit was asked for."""
        if self.limit_us is None:
            return None
        rows = [row.to_record() for row in self.capacity]
        return figures.Capacity(limit_us=plain_load(self.limit_us), rows=rows)


def make_views(gathered: Gathered, panels: Sequence[Panel]) -> Views:
    """Every view of the points, within what the panels allow to be compared."""
    by_name = {panel.name: panel for panel in panels}
    comparability = {panel.name: panel.comparability for panel in panels}
    sweeps = gathered.sweeps
    sound = [sweep for sweep in sweeps if comparability[sweep.group.panel].allows_sweeps]
    ranked = [sweep for sweep in sweeps if comparability[sweep.group.panel].allows_ranking]
    saturation, capacity = _loads(gathered, sound)
    tracks = _tracks(gathered, ranked)
    return Views(
        curves=_curves(gathered, by_name),
        saturation=tuple(saturation),
        limit_us=gathered.query.limit,
        capacity=tuple(capacity),
        ratios=_ratios(gathered, panels),
        tracks=tuple(tracks),
        changes=tuple(_changes(gathered, tracks)),
        pairs=tuple(_version_pairs(gathered, tracks)),
    )


def _curves(gathered: Gathered, panels: Mapping[str | None, Panel]) -> figures.Curves | None:
    """Merged histograms as curves, at the ranked place; a series without one is left out."""
    points = {
        sweep.group.id: point
        for sweep in gathered.sweeps
        if (point := sweep.at(panels[sweep.group.panel].place)) is not None
    }
    stored = curves(point.cells for point in points.values())
    by_series = {id_: stored.get(pool_of(point.cells)) for id_, point in points.items()}
    drawn = [
        figures.Curve(series=id_, count=curve["count"], points=curve["points"])
        for id_, curve in by_series.items()
        if curve and curve["points"]
    ]
    return figures.Curves(at=_common_place(panels.values()), series=drawn) if drawn else None


def _common_place(panels: Iterable[Panel]) -> Value:
    """The place that all panels are ranked at; None if they differ."""
    places = {plain(panel.place) for panel in panels if panel.place is not None}
    return places.pop() if len(places) == 1 else None


def _loads(
    gathered: Gathered, sweeps: Sequence[Sweep]
) -> tuple[list[SaturationRow], list[CapacityRow]]:
    """Where throughput saturates, and the highest loads under the limit: on an axis of loads."""
    axis = gathered.grouping.x
    if not gathered.grouping.x_is_load:
        return [], []
    loads = sorted({load_of(point) for sweep in sweeps for point in sweep.points})
    saturation = find_saturation_points(
        sweeps, axis=axis, relevant=gathered.demands.relevant, loads=loads
    )
    limit_us = gathered.query.limit
    if limit_us is None:
        return saturation, []
    return saturation, find_capacities(sweeps, limit_us=limit_us, axis=axis, loads=loads)


def _tracks(gathered: Gathered, sweeps: Sequence[Sweep]) -> list[Track]:
    if gathered.grouping.x not in TREND_AXES or gathered.metric.group == "errors":
        return []
    return [_track(gathered, sweep) for sweep in sweeps]


def _track(gathered: Gathered, sweep: Sweep) -> Track:
    by_x = [(each.point.x, each) for each in gathered.entrants(sweep)]
    return track_of(sweep.group.id, sweep.group.label, by_x, gathered.query.metric)


def _changes(gathered: Gathered, tracks: Sequence[Track]) -> list[LevelChange]:
    if not tracks:
        return []
    axis = TREND_AXES[gathered.grouping.x]
    return list_changes(
        tracks, _trend_yardstick(gathered, tracks), metric=gathered.metric, axis=axis
    )


def _trend_yardstick(gathered: Gathered, tracks: Sequence[Track]) -> Yardstick:
    """The rules of all changes and pairs of versions together: each track is a family."""
    has_pairs = gathered.grouping.x == "version"
    asked = [
        track for track in tracks if track.known >= LEAST_POSITIONS or (has_pairs and track.is_pair)
    ]
    return gathered.yardstick(families=max(len(asked), 1))


def _version_pairs(gathered: Gathered, tracks: Sequence[Track]) -> list[VersionPair]:
    if not tracks or gathered.grouping.x != "version":
        return []
    return pair_versions(tracks, _trend_yardstick(gathered, tracks))


def _ratios(gathered: Gathered, panels: Sequence[Panel]) -> RatioView | None:
    """Servers × workloads, each within its workload; None if there is one workload."""
    if not _has_ratios(gathered):
        return None
    workloads = judge_workloads(gathered)
    table = _ratio_table(gathered, workloads)
    if table is None:
        return None
    if gathered.grouping.facet is None:
        return RatioView(table, combine_workloads(workloads))
    return RatioView(table, combine([panel.judgement for panel in panels]))


def _has_ratios(gathered: Gathered) -> bool:
    """Whether there are workloads to be columns, and the metric has ratios."""
    if gathered.metric.group == "errors":
        return False
    if COVERS[gathered.grouping.x].intersection(WORKLOAD_PARTS):
        return False
    return len({sweep.group.first.workload.name for sweep in gathered.sweeps}) > 1


def _ratio_table(gathered: Gathered, workloads: Mapping[str, Judgement]) -> RatioTable | None:
    query, rows = gathered.query, _row_labels(gathered)
    return make_ratio_table(
        [_entry(gathered, sweep, rows[sweep.group.id], workloads) for sweep in gathered.sweeps],
        gathered.yardstick(),
        baseline=rows.get(query.baseline or ""),
        at=None if query.at is None or not gathered.grouping.x_is_load else float(query.at),
    )


def _entry(gathered: Gathered, sweep: Sweep, row: str, workloads: Mapping[str, Judgement]) -> Entry:
    """The entry of a series; without figures where its workload may not be compared."""
    entrants = gathered.entrants(sweep)
    entry = entry_of(sweep.group.first, entrants, row=row, metric=gathered.query.metric)
    comparability = workloads[entry.workload].comparability
    return entry if comparability.allows_ranking else entry.withheld(comparability.reasons[0])


def _row_labels(gathered: Gathered) -> dict[str, str]:
    """What each series is called but for its workload, by the series' id."""
    # One cell of each series is enough: its label does not depend on the place.
    series_by_cell = {sweep.group.first.id: sweep.group.id for sweep in gathered.sweeps}
    cells = [sweep.group.first for sweep in gathered.sweeps]
    rows = group_by_name(cells, replace(gathered.grouping, facet=None, without=WORKLOAD_PARTS))
    return {series_by_cell[cell.id]: row.label for row in rows for cell in row.cells()}


def view_headline(gathered: Gathered, views: Views) -> Headline | None:
    """The sentence of the asked view; None where the sentence of the ranking is shown."""
    query, axis = gathered.query, gathered.grouping.x
    if views.tracks:
        return _trend_headline(gathered, views)
    if is_of_capacity(gathered, views):
        return Headline(
            capacity_headline(
                views.capacity,
                limit_us=query.limit or 0.0,
                axis=axis,
                metric=gathered.metric,
                baseline=query.baseline,
            )
        )
    if views.saturation and query.view == "tradeoff":
        return Headline(saturation_headline(views.saturation, axis=axis))
    return None


def is_of_capacity(gathered: Gathered, views: Views) -> bool:
    """Whether the sentence is about the highest loads under the limit. At a chosen load, or for a
    metric that is no rate, that of the ranking is the answer."""
    return bool(views.capacity) and gathered.query.at is None and gathered.metric.group == "rate"


def _trend_headline(gathered: Gathered, views: Views) -> Headline:
    """The changes, else that none was found; of servers with two versions, how these differ."""
    metric, relevant = gathered.metric, gathered.demands.relevant
    tracks = views.unpaired
    if not tracks:
        return join_pairs(views.pairs, metric, relevant)
    headline = Headline(
        trend_headline(
            views.changes,
            tracks,
            _trend_yardstick(gathered, views.tracks),
            metric=metric,
            axis=TREND_AXES[gathered.grouping.x],
            is_one_run=len({cell.run.id for point in gathered.points for cell in point.cells}) == 1,
        )
    )
    if views.changes or not views.pairs:
        return headline
    return headline.followed(join_pairs(views.pairs, metric, relevant).text)


def decide_view(gathered: Gathered, views: Views, of_ranking: Decision) -> Decision:
    """What the sentence of the view decides, and why it may not hold.

    `of_ranking`: what the ranking decides, which stands beside the highest loads under the limit.
    """
    if views.tracks:
        return _decide_trend(gathered, views)
    if is_of_capacity(gathered, views):
        under = _units_at(((row.sweep, row.highest.x) for row in views.capacity), LIMITED)
        return replace(of_ranking, alone=(*of_ranking.alone, *under))
    saturated = _units_at(((row.sweep, row.knee.x) for row in views.saturation), "throughput")
    return Decision(doubts=tuple(saturation_doubts(views.saturation)), alone=tuple(saturated))


def _units_at(places: Iterable[tuple[Sweep, float | None]], metric: str) -> list[Units]:
    """Of each series the trials at its own load, where there is one."""
    points = [sweep.at(x) for sweep, x in places if x is not None]
    samples = [point.metrics[metric].sample for point in points if point is not None]
    return [sample.units for sample in samples if sample is not None]


def _decide_trend(gathered: Gathered, views: Views) -> Decision:
    yardstick, axis = _trend_yardstick(gathered, views.tracks), TREND_AXES[gathered.grouping.x]
    doubts = trend_doubts(views.changes, views.unpaired, yardstick, axis=axis)
    if views.changes:
        return Decision(tuple(change.claim for change in views.changes), tuple(doubts))
    claims = tuple(pair.claim for pair in views.pairs)
    # Beside a longer series, a pair does not make the whole answer an open one.
    return Decision(claims, (*doubts, *doubts_of(claims)), has_more=bool(views.unpaired))
