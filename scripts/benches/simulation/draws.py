"""Trials with a known truth. All values are logarithms.

Each function draws the trials of a page: `levels` has the true level of each series, `runs` how
many trials each run has. It gives the samples, and what their intervals claim to cover.
"""

from collections.abc import Callable, Sequence
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from backend.stats.replicates import Observation, Sample
from backend.stats.thresholds import LEAST_RUNS

Floats = NDArray[np.float64]
Runs = Sequence[int]
Drawn = tuple[list[Sample], Floats]
Draw = Callable[[np.random.Generator, Floats, Runs], Drawn]
# The coefficients of variation of the trials of each of so many series.
Noise = Callable[[np.random.Generator, int], Floats]


def one_run(values: Floats, *, run: object = "run", step: float = 0.0) -> Sample:
    trials = [Observation(value, run, place) for place, value in enumerate(values.tolist())]
    return Sample(tuple(trials), step)


def values_of(samples: Sequence[Sample]) -> Floats:
    """The trials of each sample as if they were independent; one line for each sample."""
    return np.array([[trial.value for trial in sample.observations] for sample in samples])


def alike(noise: float) -> Noise:
    return lambda _rng, series: np.full(series, noise)


def each(*noises: float) -> Noise:
    return lambda _rng, _series: np.array(noises)


def all_but(place: int, noise: float) -> Noise:
    """Noise of 2 %, but for the series at a place."""
    return lambda _rng, series: np.where(np.arange(series) == place, noise, 0.02)


def from_1_to_10(rng: np.random.Generator, series: int) -> Floats:
    return np.exp(rng.uniform(log(0.01), log(0.1), series))


def draw_independent(
    rng: np.random.Generator, levels: Floats, runs: Runs, *, noise: Noise
) -> Drawn:
    return [one_run(each) for each in _trials(rng, levels, runs, noise)], levels


def draw_disturbed(
    rng: np.random.Generator,
    levels: Floats,
    runs: Runs,
    *,
    noise: float,
    share: float,
    losses: Sequence[float],
) -> Drawn:
    """A share of the trials is slower by one of the `losses`.

    All trials count, so the level of a series is the mean with its slower trials.
    """
    values = _trials(rng, levels, runs, alike(noise))
    slower = np.log1p(-rng.choice(losses, values.shape))
    values += np.where(rng.random(values.shape) < share, slower, 0)
    return [one_run(each) for each in values], levels + share * np.log1p(-np.array(losses)).mean()


def draw_skewed(rng: np.random.Generator, levels: Floats, runs: Runs, *, loss: float) -> Drawn:
    """Trials with a noise of 1 %, each slower by an exponential loss with this mean."""
    values = _trials(rng, levels, runs, alike(0.01))
    return [one_run(each - rng.exponential(loss, each.shape)) for each in values], levels - loss


def draw_following(
    rng: np.random.Generator, levels: Floats, runs: Runs, *, correlation: float
) -> Drawn:
    """Trials with a noise of 3 % that follow each other: an autoregressive process of order 1."""
    noise = _trials(rng, np.zeros(len(levels)), runs, alike(0.03))
    for at in range(1, noise.shape[1]):
        own = noise[:, at] * sqrt(1 - correlation**2)
        noise[:, at] = correlation * noise[:, at - 1] + own
    return [one_run(level + each) for level, each in zip(levels, noise, strict=True)], levels


def draw_in_rounds(rng: np.random.Generator, levels: Floats, runs: Runs) -> Drawn:
    """Every round moves all series by the same, with a standard deviation of 5 %.

    Of one series, nothing shows that its rounds moved: the interval covers the level without them.
    """
    values = _trials(rng, levels, runs, alike(0.01)) + rng.normal(0, 0.05, sum(runs))
    return [one_run(each) for each in values], levels


def draw_rounded(rng: np.random.Generator, levels: Floats, runs: Runs, *, noise: Noise) -> Drawn:
    """Latencies around 10 ms, printed in whole milliseconds."""
    return draw_printed(rng, levels + log(10) + rng.uniform(-0.1, 0.1), runs, noise=noise)


def draw_printed(rng: np.random.Generator, levels: Floats, runs: Runs, *, noise: Noise) -> Drawn:
    """Latencies in milliseconds, printed in whole ones."""
    printed = np.maximum(np.round(np.exp(_trials(rng, levels, runs, noise))), 1)
    # Half a step downwards, where it is larger on the log scale.
    steps = (-np.log1p(-0.5 / printed.min(1))).tolist()
    samples = [one_run(np.log(each), step=step) for each, step in zip(printed, steps, strict=True)]
    return samples, levels


def draw_runs(rng: np.random.Generator, levels: Floats, runs: Runs, *, kind: str) -> Drawn:
    """Runs that differ by 3 %, with a noise of 3 % inside a run.

    `kind`: "different" runs of each series, "own" effects of each series in the same runs, or
    "shared" effects. An interval claims to cover the level of any run from three runs on, and the
    level of these runs below.
    """
    effects = rng.normal(0, 0.03, (len(levels), len(runs)))
    if kind == "shared":
        effects[:] = effects[0]
    samples = []
    for series, (level, own) in enumerate(zip(levels, effects, strict=True)):
        name = series if kind == "different" else "run"
        trials = [
            Observation(value, (name, run), place)
            for run, (count, effect) in enumerate(zip(runs, own, strict=True))
            for place, value in enumerate(rng.normal(level + effect, 0.03, count).tolist())
        ]
        samples.append(Sample(tuple(trials)))
    return samples, levels if len(runs) >= LEAST_RUNS else levels + effects.mean(1)


def draw_starts(
    rng: np.random.Generator, levels: Floats, runs: Runs, *, trials_of_each: int | None
) -> Drawn:
    """Starts that differ by 2 %, with a noise of 1 %, in one run.

    `trials_of_each`: how many trials share a start; None: all of a series.
    """
    count = sum(runs)
    starts = np.arange(count) // (trials_of_each or count)
    effects = rng.normal(0, 0.02, (len(levels), count))[:, starts]
    values = _trials(rng, levels, runs, alike(0.01)) + effects
    return [_started(own, starts.tolist()) for own in values], levels


def draw_drift(rng: np.random.Generator, levels: Floats, runs: Runs, *, in_turn: bool) -> Drawn:
    """Two series with a noise of 1 %, and a machine that gets slower by 6 % over all trials.

    They are measured in turn, in an order that is reversed from round to round, or one after the
    other.
    """
    count = sum(runs)
    places = np.arange(count)
    one = 2 * places + places % 2 if in_turn else places
    other = 2 * places + 1 - places % 2 if in_turn else places + count
    turns = np.array([one, other])
    values = _trials(rng, levels, runs, alike(0.01)) + log(0.94) * turns / (2 * count - 1)
    starts = range(count)
    return [
        _started(own, starts, turns=turn.tolist()) for own, turn in zip(values, turns, strict=True)
    ], levels


def _started(
    values: Floats, starts: Sequence[int], *, turns: Sequence[int | None] | None = None
) -> Sample:
    """The trials of one run with the start and the turn of each."""
    turns = [None] * len(values) if turns is None else turns
    places = enumerate(zip(values.tolist(), starts, turns, strict=True))
    return Sample(tuple(Observation(v, "run", at, start, turn) for at, (v, start, turn) in places))


def _trials(rng: np.random.Generator, levels: Floats, runs: Runs, noise: Noise) -> Floats:
    noises = noise(rng, len(levels))
    return levels[:, None] + rng.normal(size=(len(levels), sum(runs))) * noises[:, None]
