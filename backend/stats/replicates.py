"""One series at one load: its centre, and an interval named for what repeats.

What repeats is the run (Kalibera & Jones, ISMM 2013): trials of one run share the day, the build
and the start of the server. From three runs on, the unit is the run's mean. With fewer runs, the
unit is the trial, and the interval covers these runs only. All values are logarithms: rates and
latencies are positive and multiply. The centre of the trials of one run at one load is the figure
that stands for them everywhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from math import exp, fsum, log, pi, sqrt
from statistics import fmean, median
from typing import Literal

from msgspec import Struct

from backend.stats.student import t_quantile
from backend.stats.thresholds import LEAST_RUNS, LEAST_STEP, LEAST_TRIALS

CONFIDENCE = 0.95
# Rounding that is a larger share of an interval's half width is told in its name.
WIDENED = 0.05
# Up to this many degrees of freedom, all units may be printed alike although the level is more than
# half a step away. Three trials with a level ⅙ step further are, in up to 4.9 % of cases, whatever
# the noise.
FEW_DEGREES = 2
WIDER_OF_FEW = 4 / 3
# What the interval covers: any run of the series, the one run, the one run of several that holds
# both series, or the two runs measured.
Scope = Literal["runs", "run", "shared run", "these runs"]


class Observation(Struct, frozen=True, gc=False):
    """One trial: the log of its figure, its run, and its round inside the run (None: unknown).

    Servers that were measured in turns share their rounds.
    """

    value: float
    run: Hashable
    round: Hashable | None = None


class Sample(Struct, frozen=True, dict=True):
    """The trials of one series at one load.

    `step`: half a rounding step of the tool, on the log scale. `has_two_modes`: its trials fall
    into two groups, and its centre lies between them.
    """

    observations: tuple[Observation, ...]
    step: float = 0.0
    has_two_modes: bool = False

    @cached_property
    def units(self) -> Units:
        """The sample as repeated units; raises ValueError for a sample without trials."""
        return split_units(self)


class Centre(Struct, frozen=True, gc=False):
    """The mean over runs of each run's mean log, with a 95 % interval (None without noise known).

    It has `n` trials in `runs` runs. `variance` is of the centre, with `freedom` degrees.
    `rounding`: what rounding adds to the interval on each side.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    runs: int
    scope: Scope
    variance: float | None
    freedom: float
    rounding: float

    @property
    def is_widened(self) -> bool:
        """Whether rounding makes the interval so much wider that it covers more than 95 %."""
        return self.high is not None and self.rounding > WIDENED * (self.high - self.value)


class Units(Struct, frozen=True, gc=False):
    """A sample as repeated units: means of runs, or trials where there are fewer than 3 runs.

    `trials` are those of each run. `distances`: of each unit from the mean of all runs, or from
    the mean of the trial's run. `squares` is the sum of their squares, with `freedom` degrees.
    `weight`: the variance of the centre ÷ the variance of a unit. `rounding`: how far it can move
    the centre, where `freedom` is above 0.
    """

    centre: float
    of_runs: bool
    trials: Mapping[Hashable, Sequence[Observation]]
    distances: Sequence[float]
    squares: float
    freedom: int
    weight: float
    rounding: float
    n: int
    runs: frozenset[Hashable]
    has_two_modes: bool = False

    @property
    def deviations(self) -> Mapping[Hashable, float] | None:
        """The distance of each unit by its key; None if a round is unknown or named twice, so
        that no unit can be paired."""
        keys: list[Hashable] = list(self.trials)
        if not self.of_runs:
            keys = [
                None if trial.round is None else (run, trial.round)
                for run, trials in self.trials.items()
                for trial in trials
            ]
        by_key = dict(zip(keys, self.distances, strict=True))
        return None if None in by_key or len(by_key) < len(keys) else by_key

    @property
    def variance(self) -> float:
        """Of one unit; only where `freedom` is above 0."""
        return self.squares / self.freedom

    @property
    def squares_of_runs(self) -> float:
        """The sum of the squared distances of the runs' means from the centre."""
        return sum([(_mean(trials) - self.centre) ** 2 for trials in self.trials.values()])

    @property
    def scope(self) -> Scope:
        if self.of_runs:
            return "runs"
        return "run" if len(self.runs) == 1 else "these runs"


def estimate(sample: Sample) -> Centre:
    """The centre of a sample; raises ValueError for a sample without trials."""
    return centre_of(sample.units)


def centre_of(units: Units, confidence: float = CONFIDENCE) -> Centre:
    """The centre of a sample that is already split into units."""
    low = high = variance = None
    if units.n >= LEAST_TRIALS and units.freedom:
        variance = units.variance * units.weight
        half = t_quantile((1 + confidence) / 2, units.freedom) * sqrt(variance)
        half += units.rounding
        low, high = units.centre - half, units.centre + half
    return Centre(
        value=units.centre,
        low=low,
        high=high,
        n=units.n,
        runs=len(units.runs),
        scope=units.scope,
        variance=variance,
        freedom=units.freedom,
        rounding=units.rounding,
    )


def split_units(sample: Sample) -> Units:
    """The units of a sample: every trial counts (decision 0074)."""
    by_run = _by_run(sample)
    means = {run: _mean(trials) for run, trials in by_run.items()}
    centre = fmean(means.values())
    n = len(sample.observations)
    of_runs = len(by_run) >= LEAST_RUNS
    distances = [mean - centre for mean in means.values()] if of_runs else _within(by_run, means)
    squares = sum([distance * distance for distance in distances])
    freedom = len(means) - 1 if of_runs else n - len(means)
    return Units(
        centre=centre,
        of_runs=of_runs,
        trials=by_run,
        distances=distances,
        squares=squares,
        freedom=freedom,
        weight=1 / len(means) if of_runs else _trial_weight(by_run),
        rounding=_rounding(sample.step, squares, freedom),
        n=n,
        runs=frozenset(by_run),
        has_two_modes=sample.has_two_modes,
    )


def _mean(trials: Sequence[Observation]) -> float:
    return fsum([trial.value for trial in trials]) / len(trials)


def _rounding(half_step: float, squares: float, freedom: int) -> float:
    """How far rounding can move the centre of units with these squares of their distances."""
    step = max(half_step, LEAST_STEP)
    error = rounding_error(step, squares / freedom) if freedom else step
    return error * WIDER_OF_FEW if freedom <= FEW_DEGREES else error


def _trial_weight(by_run: Mapping[Hashable, Sequence[Observation]]) -> float:
    """The variance of the mean of the runs' means ÷ the variance of a trial."""
    counts = [len(trials) for trials in by_run.values()]
    return sum([1 / count for count in counts]) / len(counts) ** 2


def _within(
    by_run: Mapping[Hashable, Sequence[Observation]], means: Mapping[Hashable, float]
) -> list[float]:
    """The distances of the trials from the means of their runs."""
    return [trial.value - means[run] for run, trials in by_run.items() for trial in trials]


def _by_run(sample: Sample) -> dict[Hashable, list[Observation]]:
    if not sample.observations:
        raise ValueError("a sample without trials has no centre")
    by_run: dict[Hashable, list[Observation]] = {}
    for observation in sample.observations:
        by_run.setdefault(observation.run, []).append(observation)
    return by_run


def rounding_error(step: float, variance: float) -> float:
    """How far rounding can move a mean, where a unit has this variance.

    Noise larger than the step averages the rounding out: the largest error of the mean of a rounded
    normal falls as exp(−2π²·variance ÷ Δ²), with Δ the whole step (Widrow & Kollár, *Quantization
    Noise*, 2008). Rounding itself adds Δ²/12 to the variance that is seen.
    """
    noise = max(variance - step * step / 3, 0.0)
    return step * exp(-pi * pi * noise / (2 * step * step))


def figure_of(centre: float) -> float:
    """The figure whose logarithm is `centre`."""
    # Fourteen digits: beyond them the logarithm has rounded.
    return float(f"{exp(centre):.14g}")


def centre_of_run(figures: Sequence[float]) -> float | None:
    """The centre of the figures of trials of one run at one load; None without figures.

    The geometric mean. A figure of 0 has no logarithm: then it is the median.
    """
    if not figures:
        return None
    if min(figures) <= 0:
        return median(figures)
    return figure_of(estimate(Sample(tuple(Observation(log(x), 0) for x in figures))).value)
