"""Trials with a known truth. All values are logarithms; levels are 0 unless said otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from backend.stats.replicates import Observation, Sample

Floats = NDArray[np.float64]


def one_run(values: Floats, *, run: object = "run", step: float = 0.0) -> Sample:
    trials = [Observation(value, run, place) for place, value in enumerate(values.tolist())]
    return Sample(tuple(trials), step)


def several_runs(
    rng: np.random.Generator, runs: Sequence[int], level: float, effects: Floats, name: str
) -> Sample:
    """Runs of so many trials each, with a coefficient of variation of 3 % inside a run."""
    return Sample(
        tuple(
            Observation(level + effect + float(rng.normal(0, 0.03)), (name, place), trial)
            for place, (count, effect) in enumerate(zip(runs, effects.tolist(), strict=True))
            for trial in range(count)
        )
    )


def disturbed(rng: np.random.Generator, noise: float, count: int, level: float = 0.0) -> Floats:
    """One trial in ten lost 10, 20 or 50 %."""
    losses = np.log(1 - rng.choice([0.1, 0.2, 0.5], count))
    return rng.normal(level, noise, count) + np.where(rng.random(count) < 0.1, losses, 0)


def draw_run(rng: np.random.Generator, *, noise: float, count: int) -> tuple[Sample, float]:
    return one_run(rng.normal(0, noise, count)), 0.0


def draw_disturbed(rng: np.random.Generator, *, noise: float, count: int) -> tuple[Sample, float]:
    return one_run(disturbed(rng, noise, count)), 0.0


def draw_runs(rng: np.random.Generator, *, runs: Sequence[int]) -> tuple[Sample, float]:
    return several_runs(rng, runs, 0.0, rng.normal(0, 0.03, len(runs)), "a"), 0.0


def draw_in_run(rng: np.random.Generator, *, count: int) -> tuple[Sample, float]:
    """The truth is the level of that one run, as the interval says."""
    effect = rng.normal(0, 0.03)
    return one_run(rng.normal(effect, 0.03, count)), float(effect)


def draw_rounded(rng: np.random.Generator, *, noise: float, count: int) -> tuple[Sample, float]:
    """Latencies around 10 ms, printed in whole milliseconds."""
    level = float(10 * exp(rng.uniform(-0.1, 0.1)))
    printed = np.maximum(np.round(level * np.exp(rng.normal(0, noise, count))), 1)
    return one_run(np.log(printed), step=log((printed.mean() + 0.5) / printed.mean())), log(level)


def draw_pair(
    rng: np.random.Generator, *, noise: float, count: int, difference: float, shared: float = 0.0
) -> tuple[Floats, Floats]:
    rounds = rng.normal(0, shared, count)
    level = log(1 + difference)
    return rounds + rng.normal(0, noise, count), rounds + rng.normal(level, noise, count)


def draw_disturbed_pair(
    rng: np.random.Generator, *, noise: float, count: int, difference: float
) -> tuple[Floats, Floats]:
    return disturbed(rng, noise, count), disturbed(rng, noise, count, log(1 + difference))
