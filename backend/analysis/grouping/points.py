"""The figures of one series at one place on the axis: the trials of its cells, pooled."""

import uuid
from collections.abc import Container, Mapping, Sequence
from typing import cast, overload

from msgspec import UNSET, Struct

from backend.analysis import figures
from backend.analysis.grouping.measures import Measure, Trials, class_shares, measure_of
from backend.analysis.loading.histogram_cache import Pool, pool_of
from backend.analysis.query.field import Value
from backend.analysis.query.metrics import METRICS
from backend.analysis.query.records import LoadedCell, LoadedTrial
from backend.runs.checks import FEW_TRIALS, OVERLOAD, TWO_MODES
from backend.stats.thresholds import HIGH_ERROR_RATE, REACHED_SHARE


class Point(Struct, frozen=True, gc=False):
    x: Value
    cells: tuple[LoadedCell, ...]
    trials: tuple[LoadedTrial, ...]
    overload: bool | None
    metrics: Mapping[str, Measure]
    # Shares of the attempts, by class; None if a load tool does not tell.
    errors: Mapping[str, float | None]
    # Checks that fired on the cells; and all checks, those that fired on trials included.
    cell_checks: tuple[str, ...]
    checks: tuple[str, ...]

    @property
    def failing(self) -> bool:
        """Whether so many requests failed that the other figures must not be ranked."""
        rate = self.metrics["error_rate"].value
        return rate is not None and rate > HIGH_ERROR_RATE

    def to_record(self, run_places: Mapping[uuid.UUID, int]) -> figures.Point:
        """The record. `run_places`: of each run among the runs of the answer."""
        measures = self.metrics.items()
        cell_ids = [str(cell.id) for cell in self.cells]
        return figures.Point(
            x=place_of(self.x),
            cell=cell_ids[0],
            cells=cell_ids,
            trials=len(self.trials),
            overload=self.overload,
            metrics={id_: measure.to_record() for id_, measure in measures},
            errors=dict(self.errors),
            checks=self.checks,
            # Where all is of one run, the run of each trial is known.
            runs=self._run_places(run_places) if len(run_places) > 1 else UNSET,
        )

    def _run_places(self, run_places: Mapping[uuid.UUID, int]) -> list[int]:
        """The run of each trial."""
        return [run_places[cell.run.id] for cell in self.cells for _ in cell.trials]


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
    dismissed: Container[tuple[uuid.UUID, str]] = (),
) -> Point:
    """The figures of `cells`, which are of one series and at one place.

    `merged`: the percentiles of pools of several cells; where one is not in it, none merge.
    `wanted`: the ids of the metrics. `dismissed`: runs with the checks that a member dismissed.
    """
    counted = Trials.of(cells, has_two_modes=_have_two_modes(cells, dismissed))
    trials = counted.trials
    merged_us = cells[0].percentiles_us if len(cells) == 1 else merged.get(pool_of(cells), {})
    metrics = {name: measure_of(METRICS[name], counted, merged_us) for name in wanted}
    own = _cell_checks(cells, trials)
    repeated = {"duplicate" for cell in cells if cell.duplicates}
    return Point(
        x=x,
        cells=tuple(cells),
        trials=trials,
        overload=_overload(cells[0], metrics["throughput"].value, trials),
        metrics=metrics,
        errors=class_shares(trials),
        cell_checks=tuple(sorted(own)),
        checks=tuple(sorted(own.union(repeated, *(trial.checks for trial in trials)))),
    )


def _have_two_modes(
    cells: Sequence[LoadedCell], dismissed: Container[tuple[uuid.UUID, str]]
) -> bool:
    return any(
        TWO_MODES in cell.checks and (cell.run.id, TWO_MODES) not in dismissed for cell in cells
    )


def _overload(
    cell: LoadedCell, achieved: float | None, trials: Sequence[LoadedTrial]
) -> bool | None:
    """Whether the offered rate was not achieved; None if that is unknown."""
    if cell.series.loop == "closed":
        return False
    if cell.rate_rps is None:
        return None
    if achieved is None:
        # A log without an elapsed time may still show that less was answered.
        return True if any(OVERLOAD in trial.checks for trial in trials) else None
    return achieved / cell.rate_rps < REACHED_SHARE if cell.rate_rps else None


def _cell_checks(cells: Sequence[LoadedCell], trials: Sequence[LoadedTrial]) -> set[str]:
    """The rules over a cell as stored; of several runs, whether all their trials are few.

    Drift and spread are asked within each run: runs differ, and the intervals allow for it.
    """
    stored = {id_ for cell in cells for id_ in cell.checks}
    if len(cells) == 1:
        return stored
    wanted = max(cell.run.min_trials for cell in cells)
    return stored - {FEW_TRIALS} | ({FEW_TRIALS} if len(trials) < wanted else set())
