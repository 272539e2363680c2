"""The tests that others use, on the same trials: Welch, Mann-Whitney, Dunnett, Games-Howell."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from backend.stats.simultaneous import quantile_against_baseline, quantile_of_all_pairs
from backend.stats.student import t_quantile

Floats = NDArray[np.float64]
Pair = tuple[int, int]
# What the rounding of numbers leaves of a variance or a difference.
_NOTHING = 1e-14


def is_told_by_welch(base: Floats, other: Floats) -> bool:
    parts = base.var(ddof=1) / len(base), other.var(ddof=1) / len(other)
    counts = len(base), len(other)
    difference = other.mean() - base.mean()
    return _exceeds(difference, parts, counts, lambda freedom: t_quantile(0.975, freedom))


def _exceeds(
    difference: float,
    parts: tuple[float, float],
    counts: tuple[int, int],
    quantile: Callable[[float], float],
) -> bool:
    """Whether a difference is beyond noise, with Welch's degrees of freedom.

    Trials that are all printed alike have no noise: each difference is beyond it.
    """
    variance = sum(parts)
    if variance < _NOTHING:
        return abs(difference) > _NOTHING
    squares = sum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    return abs(difference) > quantile(float(variance**2 / squares)) * sqrt(variance)


def is_told_by_ranks(base: Floats, other: Floats) -> bool:
    """Mann-Whitney's U: exact up to 10 trials, above by its normal limit; ties count as half."""
    count = len(base)
    above = (other[:, None] > base).sum() + (other[:, None] == base).sum() / 2
    smaller = min(above, count * count - above)
    if count <= 10:
        return 2 * _rank_tail(count, ceil(smaller)) <= 0.05
    _, ties = np.unique(np.concatenate([base, other]), return_counts=True)
    lost = (ties**3 - ties).sum() / (2 * count * (2 * count - 1))
    spread = sqrt(count * count / 12 * (2 * count + 1 - lost))
    return count * count / 2 - smaller > NormalDist().inv_cdf(0.975) * spread


@lru_cache
def _rank_tail(count: int, most: int) -> float:
    """P(U ≤ `most`) for two samples of `count`."""
    ways = np.zeros((count + 1, count * count + 1))
    ways[0, 0] = 1
    for rank in range(1, 2 * count + 1):
        for taken in range(min(rank, count), 0, -1):
            shift = rank - taken
            if shift <= count * count:
                ways[taken, shift:] += ways[taken - 1, : count * count + 1 - shift]
    return float(ways[count, : most + 1].sum() / ways[count].sum())


def rows_by_dunnett(values: Floats) -> Floats:
    """Which rows but the first are told from the first."""
    series, count = values.shape
    means, variance = values.mean(1), values.var(1, ddof=1).mean()
    quantile = quantile_against_baseline(series - 1, series * (count - 1), 0.5, 0.95)
    return np.abs(means[1:] - means[0]) > quantile * sqrt(2 * variance / count)


def pairs_by_games_howell(values: Floats, pairs: Sequence[Pair]) -> list[bool]:
    """Which pairs of rows are told apart."""
    series, count = values.shape
    means, parts = values.mean(1), values.var(1, ddof=1) / count
    return [
        _exceeds(
            means[second] - means[first],
            (parts[first], parts[second]),
            (count, count),
            lambda freedom: quantile_of_all_pairs(series, freedom, 0.95),
        )
        for first, second in pairs
    ]
