"""Estimating the noise of a host from its records. Pure; all figures are logs of throughput."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import expm1, sqrt

from backend.stats.student import t_quantile

# With fewer A/A comparisons, the floor is several times as wide as the noise it bounds.
LEAST_COMPARISONS = 3


@dataclass(frozen=True, slots=True)
class RunMean:
    """One run at one level (a series and a load): the logs of its trials, summed up."""

    level: Hashable
    run: Hashable
    trials: int
    mean: float
    # The sum of squared deviations from the mean.
    squares: float


@dataclass(frozen=True, slots=True)
class RunVariation:
    """The standard deviation between runs, beyond trial noise, and its degrees of freedom."""

    sd: float
    freedom: int


def noise_floor(comparisons: Sequence[Sequence[float]]) -> float | None:
    """The share that two equal servers differ by less than, in 95 % of comparisons.

    `comparisons`: for each independent A/A comparison, its differences (one for each load). The
    sides are equal, so the mean difference is known to be zero: the bound is Student's t with as
    many degrees of freedom as comparisons, times the root mean square. None for fewer than three.
    """
    count = len(comparisons)
    if count < LEAST_COMPARISONS:
        return None
    squares = [sum(each * each for each in loads) / len(loads) for loads in comparisons]
    return expm1(t_quantile(0.975, count) * sqrt(sum(squares) / count))


def run_variation(means: Iterable[RunMean]) -> RunVariation | None:
    """The variance component of runs, from levels that were measured in two runs or more.

    The method of moments of a one-way layout with unequal numbers (Searle, Casella & McCulloch,
    "Variance Components", 1992, section 3.6), pooled over the levels; a negative estimate is 0.
    One run shifts all its levels together, so levels give no further degrees of freedom: these
    are the independent differences between runs. None if no level tells.
    """
    by_level: dict[Hashable, list[RunMean]] = defaultdict(list)
    for mean in means:
        by_level[mean.level].append(mean)
    levels = [level for level in by_level.values() if _tells(level)]
    if not levels:
        return None
    excess = sum(_squares_between(level) - _squares_expected(level) for level in levels)
    variance = max(excess / sum(_weight(level) for level in levels), 0.0)
    runs = [frozenset(mean.run for mean in level) for level in levels]
    freedom = len(frozenset().union(*runs)) - len(set(group_overlapping(runs)))
    return RunVariation(sqrt(variance), freedom)


def _tells(level: Sequence[RunMean]) -> bool:
    """Whether it has two runs, and repeats that tell the noise of trials."""
    return len(level) > 1 and any(mean.trials > 1 for mean in level)


def _squares_between(level: Sequence[RunMean]) -> float:
    trials = sum(mean.trials for mean in level)
    centre = sum(mean.trials * mean.mean for mean in level) / trials
    return sum(mean.trials * (mean.mean - centre) ** 2 for mean in level)


def _squares_expected(level: Sequence[RunMean]) -> float:
    """What the squares between runs come to by the noise of trials alone."""
    within_freedom = sum(mean.trials - 1 for mean in level)
    return (len(level) - 1) * sum(mean.squares for mean in level) / within_freedom


def _weight(level: Sequence[RunMean]) -> float:
    """How often the variance of runs is in the squares between them."""
    trials = sum(mean.trials for mean in level)
    return trials - sum(mean.trials**2 for mean in level) / trials


def group_overlapping(sets: Sequence[frozenset[Hashable]]) -> list[int]:
    """A number for each set; sets that share a member, also by way of others, share the number."""
    groups: list[int] = list(range(len(sets)))
    first_with: dict[Hashable, int] = {}
    for place, members in enumerate(sets):
        joined = {groups[first_with[member]] for member in members if member in first_with}
        for member in members:
            first_with.setdefault(member, place)
        if joined:
            groups[place] = min(joined)
        if len(joined) > 1:
            groups = [groups[place] if group in joined else group for group in groups]
    return groups
