"""Quantiles of the largest of several |t|, for intervals that hold all at once.

Against a baseline the quantile is Dunnett's (JASA 1955), for all pairs Tukey's studentized range
(divided by √2, so that both multiply a standard error of a difference). Degrees of freedom may be
fractions, as Welch's and Games & Howell's are.

The largest |z| with known variances is tabled once for each family (trapezoid rule over the shared
normal variable); dividing by an estimated standard deviation is a second integral, over the log of
a chi variable. Between tabled degrees of freedom the log of the quantile is nearly linear in their
inverse, and slightly convex, so that interpolation errs on the wide side, by less than 0.3 %.
"""

from bisect import bisect_right
from functools import lru_cache
from math import erf, exp, floor, inf, lgamma, log, sqrt

import numpy as np
from numpy.typing import NDArray

from backend.stats.student import t_quantile

Floats = NDArray[np.float64]

_DEGREES = (1, 1.2, 1.5, 1.75, 2, 2.4, 3, 3.5, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 60, 200, inf)
# Rising, as bisect needs them: 0 stands for known variances.
_INVERSES = tuple(sorted(1 / degrees for degrees in _DEGREES))
_CORRELATION_STEP = 0.05
_MOST_STEPS = 19
_LARGEST_Z = 9.0
_LARGEST: Floats = np.linspace(0, _LARGEST_Z, 601)
_SHARED: Floats = np.linspace(-8, 8, 161)
_SHARED_WEIGHTS: Floats = np.exp(-(_SHARED**2) / 2) / sqrt(2 * np.pi) * (_SHARED[1] - _SHARED[0])
_NORMAL_AT: Floats = np.linspace(-9, 9, 9001)
_NORMAL: Floats = np.array([(1 + erf(z / sqrt(2))) / 2 for z in _NORMAL_AT.tolist()])
_CHI_NODES = 160


def quantile_against_baseline(
    count: int, freedom: float, correlation: float, confidence: float
) -> float:
    """The largest |t| of `count` comparisons with one baseline, exceeded in 1 − `confidence`.

    `correlation`: of two comparisons, the baseline's share of their variance; rounded down to
    steps of 0.05, because a lower correlation gives a wider interval.
    """
    if count == 1:
        return t_quantile((1 + confidence) / 2, freedom)
    steps = floor(correlation / _CORRELATION_STEP + 1e-9)
    return _interpolate("baseline", count, min(max(steps, 0), _MOST_STEPS), freedom, confidence)


def quantile_of_all_pairs(count: int, freedom: float, confidence: float) -> float:
    """The largest |t| of all pairs of `count` means (studentized range ÷ √2)."""
    if count == 2:
        return t_quantile((1 + confidence) / 2, freedom)
    return _interpolate("pairs", count, 0, freedom, confidence)


def prepare_quantiles() -> None:
    """Compute what all tables share, so that no first comparison has to: 70 ms, 16 MB."""
    _within_pairs()
    for steps in range(_MOST_STEPS + 1):
        _within_baseline(steps)


def _interpolate(family: str, count: int, steps: int, freedom: float, confidence: float) -> float:
    inverse = 1 / max(freedom, 1.0)
    above = min(bisect_right(_INVERSES, inverse), len(_INVERSES) - 1)
    low, high = _INVERSES[above - 1], _INVERSES[above]
    share = (inverse - low) / (high - low)
    at_low = _log_quantile(family, count, steps, low, confidence)
    at_high = _log_quantile(family, count, steps, high, confidence)
    return exp(at_low + share * (at_high - at_low))


@lru_cache(maxsize=8192)
def _log_quantile(family: str, count: int, steps: int, inverse: float, confidence: float) -> float:
    """The log of the quantile at a tabled number of degrees, by bisection."""
    table = _pairs_table(count) if family == "pairs" else _baseline_table(count, steps)
    if not inverse:
        return log(float(np.interp(confidence, table, _LARGEST)))
    scales, weights = _chi(1 / inverse)
    low, high = 0.0, log(1e5)
    while high - low > 1e-6:
        middle = (low + high) / 2
        if float(np.interp(exp(middle) * scales, _LARGEST, table) @ weights) < confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@lru_cache(maxsize=256)
def _pairs_table(count: int) -> Floats:
    """P(range of `count` standard normals ≤ √2·w) at each w of `_LARGEST`."""
    shares: Floats = count * (_within_pairs() ** (count - 1)) @ _SHARED_WEIGHTS
    return shares


# Most of the time of a table goes into these, and they are the same for every count.
@lru_cache(maxsize=1)
def _within_pairs() -> Floats:
    """P(a normal lies at most √2·w below the largest): a row for each w of `_LARGEST`."""
    return _normal(_SHARED) - _normal(_SHARED - sqrt(2) * _LARGEST[:, None])


@lru_cache(maxsize=1024)
def _baseline_table(count: int, steps: int) -> Floats:
    """P(largest |z| of `count` normals of equal correlation ≤ w) at each w of `_LARGEST`."""
    shares: Floats = (_within_baseline(steps) ** count) @ _SHARED_WEIGHTS
    return shares


@lru_cache(maxsize=_MOST_STEPS + 1)
def _within_baseline(steps: int) -> Floats:
    """P(|z| ≤ w) of a normal with a given shared part: a row for each w of `_LARGEST`; 0.8 MB."""
    correlation = steps * _CORRELATION_STEP
    own = sqrt(1 - correlation)
    shared = sqrt(correlation) * _SHARED
    return _normal((shared + _LARGEST[:, None]) / own) - _normal((shared - _LARGEST[:, None]) / own)


def _normal(z: Floats) -> Floats:
    return np.interp(z, _NORMAL_AT, _NORMAL)


@lru_cache(maxsize=64)
def _chi(freedom: float) -> tuple[Floats, Floats]:
    """Values of √(χ²/degrees) and their probabilities, spaced evenly on their logarithm."""
    below = max(25 / freedom, 8 / sqrt(2 * freedom))
    logs = np.linspace(-below, min(2.0, 8 / sqrt(2 * freedom)), _CHI_NODES)
    half = freedom / 2
    constant = log(2) + half * log(half) - lgamma(half)
    densities = np.exp(constant + freedom * logs - half * np.exp(2 * logs))
    weights = densities * (logs[1] - logs[0])
    return np.exp(logs), weights
