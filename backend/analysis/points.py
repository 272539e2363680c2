"""The figures of one series at one load point: the trials of its cells, pooled."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from backend.analysis.facts import CellFact, TrialFact
from backend.analysis.query import METRICS
from backend.runs.checks import TrialFacts, check_cell
from backend.stats import Estimate, median_interval

# The ids of the cells that meet in one point.
Pool = frozenset[uuid.UUID]

MIN_TRIALS = 3
HIGH_ERROR_RATE = 0.01
REACHED_SHARE = 0.98
MERGED_PERCENTILES = {"p50": "50", "p99": "99"}
# Rules over a cell, which are asked anew when trials of several runs meet in one point.
_CELL_RULES = frozenset({"few-trials", "spread", "drift"})


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure with its interval, the figure of each trial, and where it comes from."""

    value: float | None
    low: float | None
    high: float | None
    each: tuple[float | None, ...]
    origin: str | None
    interval: str | None
    # What a ratio or a tier is computed from; None where the figure is no median of trials.
    estimate: Estimate | None = None

    def as_dict(self) -> dict[str, object]:
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "each": list(self.each),
            "origin": self.origin,
            "interval": self.interval,
        }


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    cells: tuple[CellFact, ...]
    trials: tuple[TrialFact, ...]
    overload: bool | None
    metrics: Mapping[str, Measure]
    # Checks that fired on the cells as such, and those with the ones of every trial.
    cell_checks: tuple[str, ...]
    checks: tuple[str, ...]

    @property
    def failing(self) -> bool:
        """Whether so many requests failed that the other figures must not be ranked."""
        rate = self.metrics["error_rate"].value
        return rate is not None and rate > HIGH_ERROR_RATE

    def as_dict(self) -> dict[str, object]:
        return {
            "x": plain(self.x),
            "cell": str(self.cells[0].id),
            "trials": len(self.trials),
            "overload": self.overload,
            "metrics": {name: self.metrics[name].as_dict() for name in METRICS},
            "checks": list(self.checks),
        }


def plain(number: float) -> float | int:
    """64 rather than 64.0: a number of connections is whole."""
    return int(number) if float(number).is_integer() else number


def pool_of(cells: Iterable[CellFact]) -> Pool:
    """What names the pool of these cells, in whatever order they come."""
    return frozenset(cell.id for cell in cells)


def point_of(
    x: float, cells: Sequence[CellFact], merged: Mapping[Pool, Mapping[str, float | None]]
) -> Point:
    """The figures of `cells`, which are of one series and at one load.

    `merged`: the percentiles of pools of several cells; where one is not in it, none merge.
    """
    trials = tuple(trial for cell in cells for trial in cell.trials)
    whole = cells[0].percentiles_us if len(cells) == 1 else merged.get(pool_of(cells), {})
    metrics = {name: _latency(name, trials, whole) for name in MERGED_PERCENTILES}
    metrics["throughput"] = _throughput(trials)
    metrics["error_rate"] = _error_rate(trials)
    own = _cell_checks(cells, trials)
    return Point(
        x=x,
        cells=tuple(cells),
        trials=trials,
        overload=_overload(cells[0], metrics["throughput"].value),
        metrics=metrics,
        cell_checks=tuple(sorted(own)),
        checks=tuple(sorted(own.union(*(trial.checks for trial in trials)))),
    )


def _throughput(trials: Sequence[TrialFact]) -> Measure:
    each = tuple(trial.throughput_rps for trial in trials)
    return _median(each, each, "computed")


def _median(each: tuple[float | None, ...], known: Sequence[float], origin: str | None) -> Measure:
    estimate = median_interval(known)
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


def _latency(name: str, trials: Sequence[TrialFact], merged: Mapping[str, float | None]) -> Measure:
    key = MERGED_PERCENTILES[name]
    each = tuple(trial.percentiles_us.get(key) for trial in trials)
    known = [value for value in each if value is not None]
    if not known:
        return Measure(merged.get(key), None, None, each, _origin(merged, key), None)
    value = merged.get(key)
    if value is None:
        return _reported(each, known)
    spread = _median(each, known, "computed")
    return Measure(
        value=value,
        # The merged percentile is the figure; its interval must not exclude it.
        low=None if spread.low is None else min(spread.low, value),
        high=None if spread.high is None else max(spread.high, value),
        each=each,
        origin="computed",
        interval=spread.interval,
        estimate=spread.estimate,
    )


def _origin(merged: Mapping[str, float | None], key: str) -> str | None:
    return "computed" if merged.get(key) is not None else None


def _reported(each: tuple[float | None, ...], known: Sequence[float]) -> Measure:
    """The tool's own percentiles do not merge: the median of the trials with their range."""
    enough = len(known) >= MIN_TRIALS
    return Measure(
        value=median(known),
        low=min(known) if enough else None,
        high=max(known) if enough else None,
        each=each,
        origin="reported",
        interval="range of the trials" if enough else None,
        estimate=median_interval(known),
    )


def _error_rate(trials: Sequence[TrialFact]) -> Measure:
    each = tuple(trial.error_rate for trial in trials)
    known = [value for value in each if value is not None]
    counts = [count for trial in trials if (count := attempts(trial)) is not None]
    total = sum(made for _, made in counts)
    enough = len(known) >= MIN_TRIALS
    return Measure(
        value=sum(failed for failed, _ in counts) / total if total else None,
        low=min(known) if enough else None,
        high=max(known) if enough else None,
        each=each,
        origin="computed" if known else None,
        interval="range of the trials" if enough else None,
    )


def attempts(trial: TrialFact) -> tuple[float, float] | None:
    """Failed attempts and attempts of a trial, out of its stored rate and successes.

    rate = 1 - ok / attempts, so attempts = ok / (1 - rate). Where nothing succeeded, the
    completed requests are the attempts that are known.
    """
    rate, ok = trial.error_rate, trial.requests_ok
    if rate is None or ok is None:
        return None
    if rate >= 1 or ok == 0:
        made = float(max(trial.requests_completed or 0, 1))
        return made * rate, made
    made = round(ok / (1 - rate))
    return made - ok, made


def _overload(cell: CellFact, achieved: float | None) -> bool | None:
    if cell.loop == "closed":
        return False
    if cell.rate_rps is None or achieved is None:
        return None
    return achieved / cell.rate_rps < REACHED_SHARE if cell.rate_rps else None


def _cell_checks(cells: Sequence[CellFact], trials: Sequence[TrialFact]) -> set[str]:
    """The rules over a cell: as stored, or asked anew for trials that several runs bring."""
    stored = {id_ for cell in cells for id_ in cell.checks}
    if len(cells) == 1:
        return stored
    facts = [TrialFacts(throughput_rps=trial.throughput_rps) for trial in trials]
    return (stored - _CELL_RULES) | {finding.id for finding in check_cell(facts)}
