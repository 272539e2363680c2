"""One series at one load: its centre, and an interval named for what repeats.

The levels are host, run, start of the server, and trial (Kalibera & Jones, ISMM 2013). Trials of
one run share the day and the build; trials of one start share where memory and connections lie. The
unit is the highest level that repeats:

* the run's mean, from three runs on;
* else the start's mean, where trials share starts, and all starts are known and have two degrees of
  freedom or more inside the runs: three starts of one run, or four of two;
* else the trial. The interval then covers more trials of the same starts, unless each trial has a
  start of its own.

With fewer than three runs, the interval covers these runs only. All values are logarithms: rates
and latencies are positive and multiply. The centre of the trials of one run at one load is the
figure that stands for them everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from math import exp, fsum, log, pi, sqrt
from statistics import fmean, median
from typing import Literal, get_args

from msgspec import Struct

from backend.stats.student import t_quantile
from backend.stats.thresholds import LEAST_RUNS, LEAST_STARTS, LEAST_STEP, LEAST_TRIALS

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
# What is repeated, so that it shows the noise. A trial that has a start of its own stands for both.
Unit = Literal["run", "start", "trial"]
# From the highest level.
UNITS: tuple[Unit, ...] = get_args(Unit)


def shared_confidence(families: float) -> float:
    """Of each of so many intervals, where all hold at once with `CONFIDENCE` (Šidák)."""
    return float(CONFIDENCE ** (1 / families))


class Observation(Struct, frozen=True, gc=False):
    """One trial: the log of its figure, and what of it is known (None: unknown).

    `round`: inside the run; servers that were measured in turns share their rounds. `start`: of the
    server, inside the run. `turn`: the place in the order in which the run measured its trials.
    `began_s`: when it began, or its run, in seconds.
    """

    value: float
    run: Hashable
    round: Hashable | None = None
    start: Hashable | None = None
    turn: int | None = None
    began_s: float | None = None


_Trials = Sequence[Observation]
_ByRun = Mapping[Hashable, _Trials]


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
    """A sample as repeated units: means of runs, means of starts, or trials.

    `trials` are those of each run. `distances`: of each unit from the mean of all runs, or from
    the mean of its run; of a start, weighted by its trials. `squares` is the sum of their
    squares, with `freedom` degrees. `weight`: the variance of the centre ÷ the variance of a unit.
    `rounding`: how far it can move the centre. `starts`: how many starts of the server the trials
    had; None where that is unknown of a trial.
    """

    centre: float
    unit: Unit
    trials: _ByRun
    distances: Sequence[float]
    squares: float
    freedom: int
    weight: float
    rounding: float
    n: int
    runs: frozenset[Hashable]
    starts: int | None = None
    has_two_modes: bool = False

    @property
    def covers_starts(self) -> bool:
        """Whether how starts differ is in the noise of the units: each run is a start too."""
        return self.unit == "run" or _are_repeated(self.starts, len(self.runs))

    def mean_of(self, run: Hashable) -> float | None:
        """The mean of the trials of a run; None without any."""
        trials = self.trials.get(run)
        return None if not trials else _mean(trials)

    @property
    def deviations(self) -> Mapping[Hashable, float] | None:
        """The distance of each unit by its key; None if a round is unknown or named twice, so
        that no unit can be paired. A start is named by its rounds: servers share rounds only."""
        keys: list[Hashable] = list(self.trials)
        if self.unit == "start":
            keys = [_rounds_of(run, own) for run, own in _starts_of(self.trials)]
        elif self.unit == "trial":
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
        if self.unit == "run":
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
    centre, n = fmean(means.values()), len(sample.observations)
    starts = _count_starts(by_run)
    unit = _unit(n, len(by_run), starts)
    if unit == "run":
        distances = [mean - centre for mean in means.values()]
    elif unit == "start":
        distances = _between_starts(by_run, means)
    else:
        distances = _within(by_run, means)
    squares = sum([distance * distance for distance in distances])
    freedom = len(means) - 1 if unit == "run" else len(distances) - len(means)
    return Units(
        centre=centre,
        unit=unit,
        trials=by_run,
        distances=distances,
        squares=squares,
        freedom=freedom,
        weight=1 / len(means) if unit == "run" else _weight(by_run, unit),
        rounding=_rounding(sample.step, squares, freedom),
        n=n,
        runs=frozenset(by_run),
        starts=starts,
        has_two_modes=sample.has_two_modes,
    )


def _unit(trials: int, runs: int, starts: int | None) -> Unit:
    """The highest level that repeats. Where each trial has a start of its own, both are one."""
    if runs >= LEAST_RUNS:
        return "run"
    return "start" if starts != trials and _are_repeated(starts, runs) else "trial"


def _are_repeated(starts: int | None, runs: int) -> bool:
    """Whether starts inside the runs show how starts differ: as well as three starts of one run."""
    return starts is not None and starts - runs >= LEAST_STARTS - 1


def _count_starts(by_run: _ByRun) -> int | None:
    """How many starts the trials had; None if it is unknown of a trial."""
    count = 0
    for trials in by_run.values():
        starts = {trial.start for trial in trials}
        if None in starts:
            return None
        count += len(starts)
    return count


def _starts_of(by_run: _ByRun) -> list[tuple[Hashable, list[Observation]]]:
    """The trials of each start, with its run."""
    starts: dict[tuple[Hashable, Hashable], list[Observation]] = {}
    for run, trials in by_run.items():
        for trial in trials:
            starts.setdefault((run, trial.start), []).append(trial)
    return [(run, own) for (run, _), own in starts.items()]


def _rounds_of(run: Hashable, trials: _Trials) -> Hashable | None:
    """The key of a start; None if a round is unknown."""
    rounds = frozenset([trial.round for trial in trials])
    return None if None in rounds else (run, rounds)


def _between_starts(by_run: _ByRun, means: Mapping[Hashable, float]) -> list[float]:
    """The distance of each start's mean from its run's, by its share of the run's trials.

    The centre stays the mean of all trials. A start with more of them moves it more, so its
    distance counts more (a ratio to size; Cochran, *Sampling Techniques*, 1977, section 9A.1).
    """
    starts = _starts_of(by_run)
    counts = Counter([run for run, _ in starts])
    return [
        (_mean(own) - means[run]) * len(own) * counts[run] / len(by_run[run]) for run, own in starts
    ]


def _mean(trials: _Trials) -> float:
    return fsum([trial.value for trial in trials]) / len(trials)


def _rounding(half_step: float, squares: float, freedom: int) -> float:
    """How far rounding can move the centre of units with these squares of their distances."""
    step = max(half_step, LEAST_STEP)
    error = rounding_error(step, squares / freedom) if freedom else step
    return error * WIDER_OF_FEW if freedom <= FEW_DEGREES else error


def _weight(by_run: _ByRun, unit: Unit) -> float:
    """The variance of the mean of the runs' means ÷ the variance of a trial, or of a start."""
    counts = [len(trials) for trials in by_run.values()]
    if unit == "start":
        counts = list(Counter([run for run, _ in _starts_of(by_run)]).values())
    return sum([1 / count for count in counts]) / len(counts) ** 2


def _within(by_run: _ByRun, means: Mapping[Hashable, float]) -> list[float]:
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
