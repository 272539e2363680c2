"""The noise of several series on one page: what rounds share is taken out, what is alike is pooled.

*Blocks.* Series measured in turns share what disturbed a round, or a run. Where they do, each
block's mean over the series is taken out, as in duet benchmarking (Bulej et al., ICPE 2020), and
the differences between series keep only their own noise.

*Moderation.* Few trials estimate a variance badly, so each is drawn towards the others on the page,
by as much as they are alike (empirical Bayes: Smyth, *Statistical Applications in Genetics and
Molecular Biology* 2004). Like noise is pooled, as Dunnett's test does; unlike noise is kept apart,
as Welch's does.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log
from statistics import fmean, median

from backend.stats.replicates import Units
from backend.stats.student import incomplete_beta

# A round's disturbance is taken as shared where pure chance shows it in at most this share.
CHANCE_OF_BLOCKS = 0.05
# Two variances show too little of how much variances differ.
LEAST_TO_MODERATE = 3
_LEAST_VARIANCE_SHARE = 1e-5


@dataclass(frozen=True, slots=True)
class Noise:
    """The variance of a series' centre, and the degrees of freedom of its estimate.

    `pooled`: the degrees of all series together, the most that any comparison may claim.
    """

    variance: float
    freedom: float
    pooled: float


@dataclass(frozen=True, slots=True)
class PageNoise:
    """The noise of each series of a page, by its index; None where it is not known.

    `shared` is what remains without the blocks; it counts between series of the same `group`
    (None: no block is shared).
    """

    apart: tuple[Noise | None, ...]
    shared: tuple[Noise | None, ...]
    groups: tuple[int | None, ...]

    def between(self, first: int, second: int) -> tuple[Noise, Noise] | None:
        """The noises of two series as their difference has them."""
        group = self.groups[first]
        is_shared = group is not None and group == self.groups[second]
        noises = self.shared if is_shared else self.apart
        one, other = noises[first], noises[second]
        return None if one is None or other is None else (one, other)


def measure_noise(series: Sequence[Units]) -> PageNoise:
    """The noise of each of the series, blocks taken out and variances moderated."""
    own = [(each.variance, float(each.freedom)) if each.freedom else None for each in series]
    without_blocks = list(own)
    groups: list[int | None] = [None] * len(series)
    for number, members in enumerate(_block_groups(series)):
        residuals = _residuals([series[index] for index in members])
        if residuals is None:
            continue
        for index, residual in zip(members, residuals, strict=True):
            without_blocks[index] = residual
            groups[index] = number
    in_groups = [
        variance if group is not None else None
        for variance, group in zip(without_blocks, groups, strict=True)
    ]
    return PageNoise(_moderate(series, own), _moderate(series, in_groups), tuple(groups))


def _block_groups(series: Sequence[Units]) -> list[list[int]]:
    """Indices of series that were measured in exactly the same runs and rounds."""
    by_keys: dict[tuple[bool, frozenset[Hashable]], list[int]] = {}
    for index, each in enumerate(series):
        if each.deviations is not None and each.freedom > 1:
            by_keys.setdefault((each.of_runs, frozenset(each.deviations)), []).append(index)
    return [members for members in by_keys.values() if len(members) > 1]


def _residuals(members: Sequence[Units]) -> list[tuple[float, float]] | None:
    """Each member's variance without the blocks, and its degrees; None where none are shared.

    The degrees of all members together are (members − 1) × degrees of one.
    """
    deviations: list[Mapping[Hashable, float]] = [
        each.deviations for each in members if each.deviations is not None
    ]
    count, freedom = len(members), members[0].freedom
    blocks = {key: fmean(each[key] for each in deviations) for key in deviations[0]}
    squares = [
        sum((value - blocks[key]) ** 2 for key, value in each.items()) for each in deviations
    ]
    of_blocks = count * sum(mean * mean for mean in blocks.values())
    share = (count - 1) / count
    if not members[0].of_runs and not _exceeds_chance(of_blocks, freedom, squares, share):
        return None
    return [(square / (freedom * share), freedom * share) for square in squares]


def _exceeds_chance(of_blocks: float, freedom: int, squares: Sequence[float], share: float) -> bool:
    """Whether blocks differ more than noise explains (F test of a two-way layout)."""
    rest = sum(squares)
    if rest == 0:
        return of_blocks > 0
    degrees = freedom * share * len(squares)
    ratio = (of_blocks / freedom) / (rest / degrees)
    chance = incomplete_beta(degrees / (degrees + freedom * ratio), degrees / 2, freedom / 2)
    return chance < CHANCE_OF_BLOCKS


def _moderate(
    series: Sequence[Units], variances: Sequence[tuple[float, float] | None]
) -> tuple[Noise | None, ...]:
    """The noises of the centres: variances of runs and of trials are moderated apart."""
    noises: list[Noise | None] = [None] * len(series)
    for of_runs in (True, False):
        indices = [
            index
            for index, (each, variance) in enumerate(zip(series, variances, strict=True))
            if variance is not None and each.of_runs == of_runs
        ]
        known = [variance for variance in (variances[index] for index in indices) if variance]
        prior, prior_freedom = fit_prior(known)
        pooled = sum(freedom for _, freedom in known)
        for index, (variance, freedom) in zip(indices, known, strict=True):
            total = freedom + prior_freedom
            drawn = (
                prior if total == inf else ((prior_freedom * prior + freedom * variance) / total)
            )
            noises[index] = Noise(drawn * series[index].weight, min(total, pooled), pooled)
    return tuple(noises)


def fit_prior(variances: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The variance that (variance, degrees) pairs have in common, and its degrees of freedom.

    Degrees are 0 where they have nothing in common or are too few, ∞ where they are alike.
    Smyth's moment estimator on the logs of the variances.
    """
    if len(variances) < LEAST_TO_MODERATE:
        return 0.0, 0.0
    least = median(variance for variance, _ in variances) * _LEAST_VARIANCE_SHARE
    if least == 0:
        return 0.0, 0.0
    logs = [
        log(max(variance, least)) - digamma(freedom / 2) + log(freedom / 2)
        for variance, freedom in variances
    ]
    mean, count = fmean(logs), len(logs)
    spread = sum((value - mean) ** 2 for value in logs) / (count - 1)
    excess = spread - fmean(trigamma(freedom / 2) for _, freedom in variances)
    if excess <= 0:
        total = sum(freedom for _, freedom in variances)
        return sum(variance * freedom for variance, freedom in variances) / total, inf
    half = inverse_trigamma(excess)
    return exp(mean + digamma(half) - log(half)), 2 * half


def digamma(x: float) -> float:
    """ψ(x) for x > 0 (Abramowitz & Stegun 6.3.5 and 6.3.18)."""
    shift = 0.0
    while x < 6:
        shift -= 1 / x
        x += 1
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    return shift + log(x) - 1 / (2 * x) - series


def trigamma(x: float) -> float:
    """The trigamma function for x > 0 (Abramowitz & Stegun 6.4.6 and 6.4.12)."""
    shift = 0.0
    while x < 6:
        shift += 1 / (x * x)
        x += 1
    square = 1 / (x * x)
    series = square * (1 / 6 - square * (1 / 30 - square * (1 / 42 - square / 30)))
    return shift + 1 / x + square / 2 + series / x


def inverse_trigamma(value: float) -> float:
    """The x whose trigamma is `value`, by bisection on the logarithm."""
    low, high = 1e-6, 1e8
    while high / low > 1 + 1e-6:
        middle = (low * high) ** 0.5
        if trigamma(middle) > value:
            low = middle
        else:
            high = middle
    return low
