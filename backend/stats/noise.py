"""The noise of the series of one page: without what rounds share, and pooled where it is alike.

*Blocks.* Series measured in turns share what disturbed a round, or a run. Where they do, each
block's mean over the series is taken out, as in duet benchmarking (Bulej et al., ICPE 2020), and
the differences between series keep only their own noise.

*Moderation.* Few trials estimate a variance badly, so each is moved towards the others on the page,
further where they are more alike (empirical Bayes: Smyth, *Statistical Applications in Genetics and
Molecular Biology* 2004). Where Bartlett's test finds them alike, noise is pooled, as Dunnett's test
does; unlike noise is kept apart, as Welch's does.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, log, sqrt
from statistics import NormalDist, fmean, median

from msgspec import Struct

from backend.stats.replicates import UNITS, Unit, Units
from backend.stats.student import incomplete_beta

# A round's disturbance is taken as shared where pure chance shows it in at most this share.
CHANCE_OF_BLOCKS = 0.03
# Two variances show too little of how much variances differ.
LEAST_TO_MODERATE = 3
# A variance is moved fully towards the others, unless chance gives so large a variance on a smaller
# share of pages.
IMPLAUSIBLE = 0.1
# The mean of the variances leaves out fewer: where noise is equal, a mean without the large
# variances is too small, and every other interval of the page too narrow.
IMPLAUSIBLE_IN_MEAN = 0.01
# Variances are pooled, unless chance spreads equal variances so far on a smaller share of pages.
CHANCE_OF_UNLIKE = 0.02
_LEAST_VARIANCE_SHARE = 1e-5

# A variance and the degrees of freedom of its estimate.
Variance = tuple[float, float]


class Noise(Struct, frozen=True, gc=False):
    """The variance of a series' centre, and the degrees of freedom of its estimate.

    `pooled`: the degrees of all series together, the most that any comparison may claim. `alone`:
    what the trials of this series alone say, where the others moved it.
    """

    variance: float
    freedom: float
    pooled: float
    alone: Variance | None = None


@dataclass(frozen=True, slots=True)
class PageNoise:
    """The noise of each series of a page, by its index; None if it is not known.

    `shared` is what remains without the blocks; it counts between series of the same `group`
    (None: no block is shared). `apart` is empty if all series are of one group.
    """

    apart: tuple[Noise | None, ...]
    shared: tuple[Noise | None, ...]
    groups: tuple[int | None, ...]

    def between(self, first: int, second: int) -> tuple[Noise, Noise] | None:
        """The noises of two series as their difference has them."""
        group = self.groups[first]
        is_shared = group is not None and group == self.groups[second]
        noises = self.shared if is_shared else self.apart
        noise, other_noise = noises[first], noises[second]
        return None if noise is None or other_noise is None else (noise, other_noise)


def measure_noise(series: Sequence[Units]) -> PageNoise:
    """The noise of each of the series, blocks taken out and variances moderated."""
    without_blocks: list[Variance | None] = [None] * len(series)
    groups: list[int | None] = [None] * len(series)
    for number, members in enumerate(_block_groups(series)):
        residuals = _residuals(series[next(iter(members))], list(members.values()))
        if residuals is None:
            continue
        for index, residual in zip(members, residuals, strict=True):
            without_blocks[index] = residual
            groups[index] = number
    shared = _moderate(series, without_blocks)
    if None not in groups and len(set(groups)) == 1:
        return PageNoise((), shared, tuple(groups))
    own = [(each.variance, float(each.freedom)) if each.freedom else None for each in series]
    return PageNoise(_moderate(series, own), shared, tuple(groups))


# How far each unit of a series is from its centre, by run, or by run and round or rounds.
Deviations = Mapping[Hashable, float]


def _block_groups(series: Sequence[Units]) -> list[dict[int, Deviations]]:
    """Series that were measured in exactly the same runs and rounds: their deviations by index."""
    by_keys: dict[tuple[Unit, frozenset[Hashable]], dict[int, Deviations]] = {}
    for index, each in enumerate(series):
        if each.freedom > 1 and (deviations := each.deviations) is not None:
            members = by_keys.setdefault((each.unit, frozenset(deviations)), {})
            members[index] = deviations
    return [members for members in by_keys.values() if len(members) > 1]


def _residuals(first: Units, deviations: Sequence[Deviations]) -> list[Variance] | None:
    """Each member's variance without the blocks, and its degrees; None if none are shared.

    `first`: one of the members, which are alike but for their deviations. The degrees of all
    members together are (members − 1) × degrees of one.
    """
    count, freedom = len(deviations), first.freedom
    blocks = {key: fmean([each[key] for each in deviations]) for key in deviations[0]}
    squares = [_squares(each, blocks) for each in deviations]
    of_blocks = count * sum([mean * mean for mean in blocks.values()])
    share = (count - 1) / count
    if first.unit != "run" and not _exceeds_chance(of_blocks, freedom, squares, share):
        return None
    return [(square / (freedom * share), freedom * share) for square in squares]


def _squares(deviations: Deviations, blocks: Deviations) -> float:
    return sum([(value - blocks[key]) ** 2 for key, value in deviations.items()])


def _exceeds_chance(of_blocks: float, freedom: int, squares: Sequence[float], share: float) -> bool:
    """Whether blocks differ more than noise explains (F test of a two-way layout)."""
    rest = sum(squares)
    if rest == 0:
        return of_blocks > 0
    degrees = freedom * share * len(squares)
    ratio = (of_blocks / freedom) / (rest / degrees)
    return f_tail(ratio, freedom, degrees) < CHANCE_OF_BLOCKS


def _moderate(
    series: Sequence[Units], variances: Sequence[Variance | None]
) -> tuple[Noise | None, ...]:
    """The noises of the centres: variances of runs, starts and trials are moderated apart."""
    noises: list[Noise | None] = [None] * len(series)
    for unit in UNITS:
        variances_by_index = {
            index: variance
            for index, (each, variance) in enumerate(zip(series, variances, strict=True))
            if variance is not None and each.unit == unit
        }
        pooled = sum(freedom for _, freedom in variances_by_index.values())
        for (index, own), drawn in zip(
            variances_by_index.items(), moderate(list(variances_by_index.values())), strict=True
        ):
            weight = series[index].weight
            alone = None if drawn == own else (own[0] * weight, own[1])
            noises[index] = Noise(drawn[0] * weight, min(drawn[1], pooled), pooled, alone)
    return tuple(noises)


def moderate(variances: Sequence[Variance]) -> list[Variance]:
    """The (variance, degrees) pairs, each moved towards the mean of all.

    How far is decided by how alike all are (`prior_freedom`), and how plausible each is among the
    others: a variance far above them stays where it is (as in Phipson et al., *Annals of Applied
    Statistics* 2016).
    """
    count = len(variances)
    prior = prior_freedom(variances) if count >= LEAST_TO_MODERATE else 0.0
    if not prior:
        return list(variances)
    chances = _chances(variances)
    pooled = sum(freedom for _, freedom in variances)
    mean = _mean(variances, [min(1.0, chance / IMPLAUSIBLE_IN_MEAN) for chance in chances])
    # The prior was estimated from so few variances: not all of its degrees are known.
    trust = 1.0 if prior == inf else 1 - 3 / count
    moderated = []
    for chance, (variance, freedom) in zip(chances, variances, strict=True):
        drawn = min(1.0, chance / IMPLAUSIBLE) * min(prior, pooled - freedom)
        total = drawn + freedom
        moderated.append(((drawn * mean + freedom * variance) / total, freedom + trust * drawn))
    return moderated


def _mean(variances: Sequence[Variance], weights: Sequence[float]) -> float:
    """The mean of the variances by their degrees and weights."""
    freedoms = [weight * freedom for weight, (_, freedom) in zip(weights, variances, strict=True)]
    squares = [
        freedom * variance for freedom, (variance, _) in zip(freedoms, variances, strict=True)
    ]
    return sum(squares) / sum(freedoms)


def _chances(variances: Sequence[Variance]) -> list[float]:
    """The chance that any series of the page has so large a variance beside the others (F test)."""
    pooled = sum(freedom for _, freedom in variances)
    total = sum(variance * freedom for variance, freedom in variances)
    chances = []
    for variance, freedom in variances:
        others = (total - variance * freedom) / (pooled - freedom)
        chance = _chance_of_ratio(variance, others, freedom, pooled - freedom)
        chances.append(chance * len(variances))
    return chances


def _chance_of_ratio(variance: float, others: float, above: float, below: float) -> float:
    """The chance of so large a ratio; 1 where the variance is not above the others'.

    The exact chance is then above 0.3, for a degree of freedom or more: plausible among any three.
    """
    if not others:
        return 0.0
    return 1.0 if variance <= others else f_tail(variance / others, above, below)


def prior_freedom(variances: Sequence[Variance]) -> float:
    """How alike the variances are: the degrees of their prior; 0 unlike, ∞ as if all are one.

    Smyth's moment estimator on the logs of the variances, unless Bartlett's test finds them equal.
    """
    least = median(variance for variance, _ in variances) * _LEAST_VARIANCE_SHARE
    if least == 0:
        return 0.0
    positive = [(max(variance, least), freedom) for variance, freedom in variances]
    if chance_of_spread(positive) >= CHANCE_OF_UNLIKE:
        return inf
    logs = [
        log(variance) - digamma(freedom / 2) + log(freedom / 2) for variance, freedom in positive
    ]
    mean = fmean(logs)
    spread = sum((value - mean) ** 2 for value in logs) / (len(logs) - 1)
    chance = fmean(trigamma(freedom / 2) for _, freedom in variances)
    return inf if spread <= chance else 2 * inverse_trigamma(spread - chance)


def chance_of_spread(variances: Sequence[Variance]) -> float:
    """The chance that equal variances spread as far: Bartlett's test (1937).

    Its statistic is the log likelihood ratio, with Bartlett's correction, and follows χ².
    """
    pooled = sum(freedom for _, freedom in variances)
    mean = sum(freedom * variance for variance, freedom in variances) / pooled
    ratio = sum(freedom * log(mean / variance) for variance, freedom in variances)
    inverses = sum(1 / freedom for _, freedom in variances) - 1 / pooled
    others = len(variances) - 1
    # Rounding may leave a little less than 0 of equal variances.
    return chi_square_tail(max(ratio, 0.0) / (1 + inverses / (3 * others)), others)


def chi_square_tail(value: float, freedom: float) -> float:
    """P(χ² > `value`) by Wilson and Hilferty (1931): within 0.003 of the exact chance."""
    scale = 2 / (9 * freedom)
    return NormalDist().cdf((1 - scale - (value / freedom) ** (1 / 3)) / sqrt(scale))


def f_tail(ratio: float, above: float, below: float) -> float:
    """P(F > `ratio`) with `above` and `below` degrees of freedom."""
    return incomplete_beta(below / (below + above * ratio), below / 2, above / 2)


# A page asks for few different degrees of freedom, again and again.
@lru_cache(maxsize=1024)
def digamma(x: float) -> float:
    """ψ(x) for x > 0 (Abramowitz & Stegun 6.3.5 and 6.3.18)."""
    shift = 0.0
    while x < 6:
        shift -= 1 / x
        x += 1
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    return shift + log(x) - 1 / (2 * x) - series


@lru_cache(maxsize=1024)
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
