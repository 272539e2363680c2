"""What differs between the frozen figures and those that the same runs give now."""

import math
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import UNSET

from backend.analysis.compare.comparison import compare_as_json
from backend.analysis.compare.ratios import Yardstick, no_ratio
from backend.analysis.figures import Figures, Measure, Point, Series
from backend.analysis.grouping.measures import half_step
from backend.analysis.kept_figures import figures_of_json, read_figures
from backend.analysis.loading.former_names import NAMED
from backend.analysis.loading.validation import UnknownValue
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.models import Run
from backend.sharing.models import ResultSet
from backend.stats import Ratio
from backend.stats.replicates import Observation, Sample

Key = tuple[str, Any]
# Smaller differences come from the order of floating-point operations.
SAME = 1e-9
SAME_CENTRE = 1e-6


@dataclass(frozen=True, slots=True)
class Place:
    """One point of one series."""

    series: str
    label: str
    x: Any
    trials: int


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of a point. `runs`: of each trial, None if an older version froze it."""

    place: Place
    metrics: Mapping[str, Measure | None]
    runs: Sequence[str | None]


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure that changed. None is unknown, before or after."""

    place: Place
    metric: str
    label: str
    unit: str
    before: float | None
    after: float | None
    # After ÷ before over the trials; None if one of the two is unknown.
    ratio: Ratio | None


@dataclass(frozen=True, slots=True)
class Differences:
    """`before` and `after`: headline and comparability status of each side."""

    before: tuple[str, str]
    after: tuple[str, str] | None
    missing_runs: tuple[str, ...]
    figures: tuple[Difference, ...]
    gone: tuple[Place, ...]
    new: tuple[Place, ...]
    renamed: tuple[tuple[str, str], ...]

    @property
    def is_empty(self) -> bool:
        return not (
            self.missing_runs or self.figures or self.gone or self.new or self.renamed
        ) and (self.after == self.before)


def differences_since(result_set: ResultSet, *, viewer: str) -> Differences:
    """Evaluate the frozen query again over the runs that still exist.

    In a slot of the viewer, unless the answer is kept. Raises QueryError, TooManyComparisons and
    AnswersBusy.
    """
    snapshot = result_set.frozen_snapshot()
    query = CompareQuery.parse(snapshot["query"])
    rows = Run.objects.filter(workspace_id=result_set.workspace_id, pk__in=query.run_ids)
    existing = set(rows.values_list("pk", flat=True))
    before = read_figures(snapshot["figures"])
    missing = tuple(str(run) for run in query.run_ids if run not in existing)
    now = _current_figures(query, existing, result_set, viewer) if existing else None
    share = result_set.workspace.relevant_share
    return differences_between(before, now, missing_runs=missing, relevant=share)


def _current_figures(
    frozen: CompareQuery, existing: set[uuid.UUID], result_set: ResultSet, viewer: str
) -> Figures | None:
    """The figures of the `existing` runs; None if nothing of the frozen query exists."""
    query: CompareQuery | None = replace(
        frozen.with_filters(run=existing.intersection(frozen.run_ids)),
        workspace=result_set.workspace.slug,
    )
    while query is not None:
        try:
            ids = [result_set.workspace_id]
            return figures_of_json(compare_as_json(query, workspace_ids=ids, viewer=viewer))
        except UnknownValue as unknown:
            # With its last run a server leaves the workspace, and so the query.
            query = unknown.rest
    return None


def differences_between(
    before: Figures, after: Figures | None, *, missing_runs: Sequence[str], relevant: float
) -> Differences:
    """Compare point by point, matched by series and place on the axis."""
    was = _points(before, {}, {})
    nothing_left = Differences(
        before=_headline_and_status(before),
        after=None,
        missing_runs=tuple(missing_runs),
        figures=(),
        gone=tuple(point.place for point in was.values()),
        new=(),
        renamed=(),
    )
    if after is None:
        return nothing_left
    former_ids, places = _former_ids(before, after), _renamed_places(before, after)
    now = _points(after, former_ids, places)
    return replace(
        nothing_left,
        after=_headline_and_status(after),
        figures=tuple(_changed(was, now, before, relevant)),
        gone=tuple(was[key].place for key in was if key not in now),
        new=tuple(now[key].place for key in now if key not in was),
        renamed=(
            *((old, new) for new, old in places.items()),
            *_renamed(before, after, former_ids),
        ),
    )


def _changed(
    was: Mapping[Key, Measured], now: Mapping[Key, Measured], figures: Figures, relevant: float
) -> Iterator[Difference]:
    """The figures that differ, of the points that are in both."""
    for key, point in was.items():
        if key in now:
            yield from _of_point(point, now[key], figures, relevant)


def _former_ids(before: Figures, after: Figures) -> dict[str, str]:
    """Ids of series now -> their ids before: a new name may give a new id to the same cells."""
    was = {series.id for series in before.series}
    now = {series.id for series in after.series}
    owner = {cell: series.id for series in before.series for cell in _cells(series)}
    former_ids: dict[str, str] = {}
    for series in after.series:
        former = _usual_owner(series, owner, now)
        if series.id not in was and former is not None:
            former_ids[series.id] = former
    return former_ids


def _usual_owner(series: Series, owner: Mapping[str, str], still_used: set[str]) -> str | None:
    """The former series that had most of its cells, among series that no longer exist."""
    owners = Counter(owner[cell] for cell in _cells(series) if cell in owner)
    return next((id_ for id_, _ in owners.most_common() if id_ not in still_used), None)


def _cells(series: Series) -> list[str]:
    return [cell for point in series.points for cell in point.cells or [point.cell]]


def _renamed_places(before: Figures, after: Figures) -> dict[Any, Any]:
    """On an axis of names: names now -> names before, of the same cells."""
    if before.x.field not in NAMED:
        return {}
    at = {cell: x for x, cell in _cells_by_place(before)}
    old_names = set(at.values())
    candidates = {
        x: at[cell] for x, cell in _cells_by_place(after) if x not in old_names and cell in at
    }
    # An old name that is still in use was not renamed.
    return {now: old for now, old in candidates.items() if old not in set(after.x.values)}


def _cells_by_place(figures: Figures) -> Iterator[tuple[Any, str]]:
    for series in figures.series:
        for point in series.points:
            for cell in point.cells or [point.cell]:
                yield point.x, cell


def _points(
    figures: Figures, former_ids: Mapping[str, str], places: Mapping[Any, Any]
) -> dict[Key, Measured]:
    """By series and place, both under their former names."""
    return {
        (former_ids.get(series.id, series.id), places.get(point.x, point.x)): Measured(
            Place(series.id, series.label, point.x, point.trials),
            point.metrics,
            _runs_of_trials(point, figures),
        )
        for series in figures.series
        for point in series.points
    }


def _runs_of_trials(point: Point, figures: Figures) -> list[str | None]:
    if point.runs is not UNSET:
        return [figures.runs[place].id for place in point.runs]
    only_run = figures.runs[0].id if len(figures.runs) == 1 else None
    return [only_run] * point.trials


def _of_point(
    was: Measured, now: Measured, figures: Figures, relevant: float
) -> Iterator[Difference]:
    for metric in figures.metrics:
        if metric.id not in was.metrics or metric.id not in now.metrics:
            continue
        before, after = _value(was, metric.id), _value(now, metric.id)
        if _same(before, after):
            continue
        change = None
        if before is not None and after is not None:
            change = _change(was, now, metric.id, Yardstick(metric.better, relevant))
        yield Difference(now.place, metric.id, metric.label, metric.unit, before, after, change)


def _value(point: Measured, metric: str) -> float | None:
    measure = point.metrics[metric]
    return None if measure is None else measure.value


def _change(before: Measured, after: Measured, metric: str, yardstick: Yardstick) -> Ratio:
    """How far a figure moved, from the trials of both and their runs."""
    old, new = _sample(before, metric), _sample(after, metric)
    if old is None or new is None:
        return no_ratio("a value is unknown or zero")
    [change] = yardstick.to_baseline(old, [new])
    return _of_shown_figures(change, _value(after, metric), _value(before, metric))


def _of_shown_figures(change: Ratio, after: float | None, before: float | None) -> Ratio:
    """`change`, or the ratio of the figures without an interval where theirs is another one.

    Older sets froze medians, or do not say of which run a trial is.
    """
    if not after or not before or change.value is None:
        return change
    if math.isclose(change.value, after / before, rel_tol=SAME_CENTRE):
        return change
    return replace(
        no_ratio("no interval: a figure is not the mean of its trials"), value=after / before
    )


def _sample(point: Measured, metric: str) -> Sample | None:
    measure = point.metrics[metric]
    if measure is None:
        return None
    pairs = zip(measure.each or (), point.runs, strict=False)
    runs = [(value, run) for value, run in pairs if value is not None]
    values = [value for value, _ in runs]
    if not values or min(values) <= 0:
        return None
    trials = tuple(Observation(math.log(value), run) for value, run in runs)
    return Sample(trials, step=half_step(values, None if measure.step is UNSET else measure.step))


def _same(before: float | None, after: float | None) -> bool:
    if before is None or after is None:
        return before is after
    return math.isclose(before, after, rel_tol=SAME)


def _headline_and_status(figures: Figures) -> tuple[str, str]:
    return figures.finding, figures.outcome.status


def _renamed(
    before: Figures, after: Figures, former_ids: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    labels = {former_ids.get(new.id, new.id): new.label for new in after.series}
    for old in before.series:
        now = labels.get(old.id)
        if now is not None and now != old.label:
            yield old.label, now
