"""The tests that others use, on the same trials: Welch, Mann-Whitney, Dunnett, Games-Howell."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from backend.stats.simultaneous import quantile_against_baseline, quantile_of_all_pairs
from backend.stats.student import t_quantile

Floats = NDArray[np.float64]
Pair = tuple[int, int]


def is_told_by_welch(base: Floats, other: Floats) -> bool:
    parts = base.var(ddof=1) / len(base), other.var(ddof=1) / len(other)
    return _exceeds(other.mean() - base.mean(), parts, (len(base), len(other)))


def _exceeds(difference: float, parts: tuple[float, float], counts: tuple[int, int]) -> bool:
    quantile = t_quantile(0.975, round(_welch_freedom(parts, counts), 2))
    return abs(difference) > quantile * sqrt(sum(parts))


def _welch_freedom(parts: tuple[float, float], counts: tuple[int, int]) -> float:
    squares = sum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    return float(sum(parts) ** 2 / squares)


def is_told_by_ranks(base: Floats, other: Floats) -> bool:
    """Mann-Whitney's U: exact up to 10 trials, above by its normal limit."""
    count = len(base)
    above = int((other[:, None] > base[None, :]).sum())
    smaller = min(above, count * count - above)
    if count <= 10:
        return 2 * _rank_tail(count, smaller) <= 0.05
    spread = sqrt(count * count * (2 * count + 1) / 12)
    return abs(above - count * count / 2) / spread > NormalDist().inv_cdf(0.975)


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


def rows_by_dunnett(means: Floats, variances: Floats, count: int) -> Floats:
    series = len(means)
    quantile = quantile_against_baseline(series - 1, series * (count - 1), 0.5, 0.95)
    return np.abs(means[1:] - means[0]) > quantile * sqrt(2 * variances.mean() / count)


def pairs_by_games_howell(means: Floats, variances: Floats, count: int) -> dict[Pair, bool]:
    differs = {}
    for first, second in combinations(range(len(means)), 2):
        parts = variances[first] / count, variances[second] / count
        freedom = _welch_freedom(parts, (count, count))
        quantile = quantile_of_all_pairs(len(means), freedom, 0.95)
        differs[first, second] = abs(means[second] - means[first]) > quantile * sqrt(sum(parts))
    return differs
