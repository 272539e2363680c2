"""The figures of one series at one place on the axis: the trials of its cells, pooled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import cast, overload

from backend.analysis import figures
from backend.analysis.loading.histogram_cache import Pool, pool_of
from backend.analysis.query.field import Value
from backend.analysis.query.metrics import METRICS, Metric
from backend.analysis.query.records import LoadedCell, LoadedTrial
from backend.formats.model import ERROR_CLASSES
from backend.runs.checks import CheckInput, check_cell
from backend.stats import Estimate, median_interval
from backend.stats.thresholds import HIGH_ERROR_RATE, LEAST_TRIALS, REACHED_SHARE

# Rules over a cell, which are asked anew when trials of several runs meet in one point.
_CELL_RULES = frozenset({"few-trials", "spread", "drift"})


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure with its interval, the figure of each trial, and where it comes from."""

    value: float | None
    low: float | None
    high: float | None
    each: tuple[float | None, ...]
    origin: figures.Origin | None
    interval: str | None
    # What a ratio or a tier is computed from; None where the figure is no median of trials.
    estimate: Estimate | None = None

    def to_record(self) -> figures.Measure:
        # Field by field: `record_of` takes seven times as long, and a comparison has thousands.
        return figures.Measure(
            value=self.value,
            low=self.low,
            high=self.high,
            each=self.each,
            origin=self.origin,
            interval=self.interval,
        )


def trial_values(measure: Measure) -> list[float]:
    """The figure of each trial that has one."""
    return [value for value in measure.each if value is not None]


@dataclass(frozen=True, slots=True)
class Point:
    x: Value
    cells: tuple[LoadedCell, ...]
    trials: tuple[LoadedTrial, ...]
    overload: bool | None
    metrics: Mapping[str, Measure]
    # Shares of the attempts, by class; None where a load tool does not tell.
    errors: Mapping[str, float | None]
    # Checks that fired on the cells as such, and those with the ones of every trial.
    cell_checks: tuple[str, ...]
    checks: tuple[str, ...]

    @property
    def failing(self) -> bool:
        """Whether so many requests failed that the other figures must not be ranked."""
        rate = self.metrics["error_rate"].value
        return rate is not None and rate > HIGH_ERROR_RATE

    def to_record(self) -> figures.Point:
        measures = self.metrics.items()
        return figures.Point(
            x=place_of(self.x),
            cell=str(self.cells[0].id),
            cells=[str(cell.id) for cell in self.cells],
            trials=len(self.trials),
            overload=self.overload,
            metrics={id_: measure.to_record() for id_, measure in measures},
            errors=dict(self.errors),
            checks=self.checks,
        )


def plain(place: Value) -> Value:
    """64 rather than 64.0: a number of connections is whole."""
    return place if place is None or isinstance(place, str) else plain_load(place)


@overload
def plain_load(load: float) -> float: ...


@overload
def plain_load(load: None) -> None: ...


def plain_load(load: float | None) -> float | None:
    """As `plain`."""
    return int(load) if isinstance(load, float) and load.is_integer() else load


def place_of(x: Value) -> figures.Place:
    """The place of a point or a ranking, as `plain` writes it. Both always have one."""
    return cast(figures.Place, plain(x))


def point_of(
    x: Value,
    cells: Sequence[LoadedCell],
    merged: Mapping[Pool, Mapping[str, float | None]],
    wanted: Sequence[str],
) -> Point:
    """The figures of `cells`, which are of one series and at one place.

    `merged`: the percentiles of pools of several cells; where one is not in it, none merge.
    `wanted`: the ids of the metrics.
    """
    trials = tuple(trial for cell in cells for trial in cell.trials)
    whole = cells[0].percentiles_us if len(cells) == 1 else merged.get(pool_of(cells), {})
    metrics = {name: _measure(METRICS[name], trials, whole) for name in wanted}
    own = _cell_checks(cells, trials)
    return Point(
        x=x,
        cells=tuple(cells),
        trials=trials,
        overload=_overload(cells[0], metrics["throughput"].value),
        metrics=metrics,
        errors={name: _share(name, trials) for name in ERROR_CLASSES},
        cell_checks=tuple(sorted(own)),
        checks=tuple(sorted(own.union(*(trial.checks for trial in trials)))),
    )


def _measure(
    metric: Metric, trials: Sequence[LoadedTrial], whole: Mapping[str, float | None]
) -> Measure:
    each = tuple(metric.read(trial) for trial in trials)
    if metric.percentile is not None:
        return _latency(each, whole.get(metric.percentile))
    if metric.group == "errors":
        return _failures(metric, each, trials)
    if metric.id == "mean":
        return _latency(each, _mean(each, trials))
    if metric.id == "max":
        return _largest(each, trials)
    return _median(each, [value for value in each if value is not None], "computed")


def _median(
    each: tuple[float | None, ...], values: Sequence[float], origin: figures.Origin | None
) -> Measure:
    estimate = median_interval(values)
    if estimate is None:
        return Measure(None, None, None, each, None, None)
    return Measure(
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        each=each,
        origin=origin,
        interval=None if estimate.low is None else "95% of the median",
        estimate=estimate,
    )


def _latency(each: tuple[float | None, ...], merged: float | None) -> Measure:
    """A latency of all requests together, with the interval that the trials give."""
    values = [value for value in each if value is not None]
    if not values:
        return Measure(merged, None, None, each, None if merged is None else "computed", None)
    if merged is None:
        return _reported(each, values)
    spread = _median(each, values, "computed")
    # The merged percentile is the figure; its interval must not exclude it.
    estimate = _holding(spread.estimate, merged)
    return Measure(
        value=merged,
        low=None if estimate is None else estimate.low,
        high=None if estimate is None else estimate.high,
        each=each,
        origin="computed",
        interval=spread.interval,
        estimate=estimate,
    )


def _holding(estimate: Estimate | None, figure: float) -> Estimate | None:
    """The estimate of a figure that is not the median of its trials, widened to hold it."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return estimate
    low, high = min(estimate.low, figure), max(estimate.high, figure)
    return replace(estimate, value=figure, low=low, high=high)


def _reported(each: tuple[float | None, ...], values: Sequence[float]) -> Measure:
    """The tool's own percentiles do not merge: the median of the trials with their range."""
    enough = len(values) >= LEAST_TRIALS
    return Measure(
        value=median(values),
        low=min(values) if enough else None,
        high=max(values) if enough else None,
        each=each,
        origin="reported",
        interval="range of the trials" if enough else None,
        estimate=median_interval(values),
    )


def _mean(each: Sequence[float | None], trials: Sequence[LoadedTrial]) -> float | None:
    """The mean over all requests, where every trial's is of its samples."""
    if any(trial.origin != "computed" for trial in trials):
        return None
    weighted_us, total = 0.0, 0
    for mean_us, trial in zip(each, trials, strict=True):
        if mean_us is None or trial.requests_completed is None:
            return None
        weighted_us += mean_us * trial.requests_completed
        total += trial.requests_completed
    return weighted_us / total if total else None


def _largest(each: tuple[float | None, ...], trials: Sequence[LoadedTrial]) -> Measure:
    """The largest of all: a maximum has no interval."""
    values = [value for value in each if value is not None]
    if not values:
        return Measure(None, None, None, each, None, None)
    origins = {trial.origin for trial in trials}
    origin: figures.Origin = "computed" if origins == {"computed"} else "reported"
    estimate = _holding(median_interval(values), max(values))
    return Measure(max(values), None, None, each, origin, None, estimate)


def _failures(
    metric: Metric, each: tuple[float | None, ...], trials: Sequence[LoadedTrial]
) -> Measure:
    """Failed attempts of all attempts: rates are pooled by their counts, never averaged."""
    values = [value for value in each if value is not None]
    enough = len(values) >= LEAST_TRIALS
    class_ = metric.id.removeprefix("error_")
    return Measure(
        value=_pooled(trials) if class_ == "rate" else _share(class_, trials),
        low=min(values) if enough else None,
        high=max(values) if enough else None,
        each=each,
        origin="computed" if values else None,
        interval="range of the trials" if enough else None,
    )


def _pooled(trials: Sequence[LoadedTrial]) -> float | None:
    counts = [count for trial in trials if (count := trial.attempts) is not None]
    total = sum(made for _, made in counts)
    return sum(failed for failed, _ in counts) / total if total else None


def _share(class_: str, trials: Sequence[LoadedTrial]) -> float | None:
    """What share of the attempts failed in this class; None as soon as one trial does not tell."""
    failed = made = 0.0
    for trial in trials:
        count, attempted = trial.errors.get(class_), trial.attempts
        if count is None or attempted is None:
            return None
        failed, made = failed + count, made + attempted[1]
    return min(1.0, failed / made) if made else None


def _overload(cell: LoadedCell, achieved: float | None) -> bool | None:
    if cell.series.loop == "closed":
        return False
    if cell.rate_rps is None or achieved is None:
        return None
    return achieved / cell.rate_rps < REACHED_SHARE if cell.rate_rps else None


def _cell_checks(cells: Sequence[LoadedCell], trials: Sequence[LoadedTrial]) -> set[str]:
    """The rules over a cell: as stored, or asked anew for trials that several runs bring."""
    stored = {id_ for cell in cells for id_ in cell.checks}
    if len(cells) == 1:
        return stored
    figures = [
        CheckInput(
            throughput_rps=trial.throughput_rps,
            error_rate=trial.error_rate,
            percentiles_us={
                name: us for name, us in trial.percentiles_us.items() if us is not None
            },
        )
        for trial in trials
    ]
    wanted = max(cell.run.min_trials for cell in cells)
    fired = check_cell(figures, min_trials=wanted)
    return (stored - _CELL_RULES) | {finding.id for finding in fired}
