"""The definitions of docs/statistics.md, computed again by numpy and by brute force.

Nothing here is taken from `backend.stats`: what the service says is held against it.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations

import numpy as np

FEWEST_RUNS = 3
# What is assumed of runs, and how many comparisons between runs that weighs as much as.
RUN_SD, RUN_PRIOR = 0.03, 8
# A variance that chance makes so large in fewer pages keeps more of its own.
IMPLAUSIBLE, IMPLAUSIBLE_IN_MEAN = 0.1, 0.01
# Variances are one unless chance spreads equal ones so far in fewer pages.
UNLIKE = 0.02
# Equal figures have no variance: at least this share of the median is taken for it.
LEAST_OF_MEDIAN = 1e-5
FINE = np.linspace(-10, 10, 40_001)
# The normal distribution by the trapezoid rule.
DENSITY = np.exp(-(FINE**2) / 2) / math.sqrt(2 * math.pi)
BELOW = np.concatenate([[0], np.cumsum((DENSITY[1:] + DENSITY[:-1]) / 2) * (FINE[1] - FINE[0])])
Z = np.linspace(-8, 8, 201)
WEIGHTS = np.exp(-(Z**2) / 2) / math.sqrt(2 * math.pi) * (Z[1] - Z[0])


@dataclass(frozen=True)
class Side:
    """The trials of one series as repeated units: runs, or trials where runs are fewer than 3."""

    centre: float
    n: int
    of_runs: bool
    runs: tuple
    # The variance of a unit with its degrees of freedom, and of the centre ÷ that of a unit.
    variance: float | None
    freedom: int
    weight: float
    # Of the mean of each run from the centre, where the unit is the run.
    deviations: dict
    # How far rounding may have moved the centre.
    rounding: float
    trials: tuple
    step: float

    def only(self, runs):
        """The side as it is in these runs alone."""
        return side_of([each for each in self.trials if each[0] in runs], self.step)

    @property
    def interval(self):
        """The bounds on the log scale; None if the noise is not known."""
        if self.n < 3 or not self.freedom:
            return None
        half = quantile_of_t(self.freedom) * math.sqrt(self.variance * self.weight) + self.rounding
        return self.centre - half, self.centre + half


def side_of(trials, step=0):
    """The side of (run, value) pairs; `step`: of the values that the load tool prints."""
    by_run = defaultdict(list)
    for run, value in trials:
        by_run[run].append(math.log(value))
    means = {run: np.mean(logs) for run, logs in by_run.items()}
    centre = float(np.mean(list(means.values())))
    n, runs = len(trials), tuple(sorted(means, key=str))
    if len(runs) >= FEWEST_RUNS:
        deviations = {run: means[run] - centre for run in runs}
        variance = float(np.var(list(means.values()), ddof=1))
        freedom = len(runs) - 1
        rounding = rounding_of(trials, step, variance, freedom)
        of_runs = (variance, freedom, 1 / len(runs), deviations, rounding)
        return Side(centre, n, True, runs, *of_runs, tuple(trials), step)
    squares = sum((log - means[run]) ** 2 for run, logs in by_run.items() for log in logs)
    freedom = n - len(runs)
    weight = sum(1 / len(logs) for logs in by_run.values()) / len(runs) ** 2
    variance = squares / freedom if freedom else None
    rounding = rounding_of(trials, step, variance, freedom)
    of_trials = (variance, freedom, weight, {}, rounding)
    return Side(centre, n, False, runs, *of_trials, tuple(trials), step)


def rounding_of(trials, step, variance, freedom):
    """Half a step, two thirds where three units may all be on the further side of a middle; less
    where noise averages it out. Steps are longest, on the log scale, below the smallest value."""
    if not step or not freedom:
        return 0.0
    half_step = -math.log(1 - step / 2 / min(value for _, value in trials))
    noise = max(0.0, variance / (2 * half_step) ** 2 - 1 / 12)
    return half_step * math.exp(-2 * math.pi**2 * noise) * (4 / 3 if freedom <= 2 else 1)


@dataclass(frozen=True)
class Difference:
    """`other` − `base` on the log scale, with its standard error, degrees and the base's share."""

    value: float
    error: float
    freedom: float
    base_share: float
    rounding: float


class Comparisons:
    """The differences of the sides of one page."""

    def __init__(self, sides):
        self.sides = sides
        known = [at for at, side in enumerate(sides) if side.freedom]
        self.apart = moderate(sides, {at: (sides[at].variance, sides[at].freedom) for at in known})
        self.groups = same_runs(sides)
        residuals = {}
        for group in set(self.groups.values()):
            residuals |= without_runs(sides, group)
        self.together = moderate(sides, residuals)

    def difference(self, base, other):
        """None if a side has fewer than 3 trials, or none to show its noise.

        Where runs would count, and some hold 3 trials of both, these runs alone are compared.
        """
        pair = (self.sides[base], self.sides[other])
        if exposure_to_runs(*pair) and (shared := set(pair[0].runs) & set(pair[1].runs)):
            inside = [side.only(shared) for side in pair]
            if min(side.n for side in inside) >= 3:
                return Comparisons(inside).difference(0, 1)
        if min(side.n for side in pair) < 3 or not all(side.freedom for side in pair):
            return None
        is_grouped = base in self.groups and self.groups[base] == self.groups.get(other)
        noises = self.together if is_grouped else self.apart
        parts = [noises[base][:2], noises[other][:2]]
        most = max(noises[base][2], noises[other][2])
        if exposure := exposure_to_runs(*pair):
            variance, freedom = variance_of_runs(pair)
            parts.append((variance * exposure, freedom))
            most = math.inf
        total = sum(variance for variance, _ in parts)
        squares = sum(variance**2 / freedom for variance, freedom in parts)
        freedom = max(1.0, min(total**2 / squares, most))
        value = pair[1].centre - pair[0].centre
        rounding = pair[0].rounding + pair[1].rounding
        return Difference(value, math.sqrt(total), freedom, parts[0][0] / total, rounding)

    def against(self, base):
        """The half widths of Dunnett's intervals against one side, by the other side."""
        others = [at for at in range(len(self.sides)) if at != base]
        differences = {at: self.difference(base, at) for at in others}
        shares = [difference.base_share for difference in differences.values() if difference]
        pairs = [math.sqrt(one * two) for one, two in combinations(shares, 2)]
        correlation = float(np.mean(pairs)) if pairs else 0.0
        return {
            at: each.error * quantile_of_dunnett(len(others), each.freedom, correlation)
            + each.rounding
            for at, each in differences.items()
            if each
        }

    def places(self):
        """The first and the last place that each side may have; more is better."""
        count = len(self.sides)
        ahead, behind = [0] * count, [0] * count
        for one, two in combinations(range(count), 2):
            difference = self.difference(one, two)
            if difference is None:
                continue
            quantile = quantile_of_range(count, difference.freedom)
            if abs(difference.value) <= quantile * difference.error + difference.rounding:
                continue
            first, second = (two, one) if difference.value > 0 else (one, two)
            behind[first] += 1
            ahead[second] += 1
        return [(ahead[at] + 1, count - behind[at]) for at in range(count)]


def exposure_to_runs(one, two):
    """How many variances between runs are in the difference of two sides."""
    shares = defaultdict(float)
    for side, sign in ((one, -1), (two, 1)):
        for run in () if side.of_runs else side.runs:
            shares[run] += sign / len(side.runs)
    return sum(share**2 for share in shares.values() if abs(share) > 1e-12)


def variance_of_runs(pair):
    """What is assumed, with the degrees that it counts as; and the runs of a side of several.

    It counts less where it makes the variance of those runs less plausible than not.
    """
    assumed = RUN_SD**2 * (RUN_PRIOR - 2) / RUN_PRIOR
    known = [(side.variance, side.freedom) for side in pair if side.of_runs]
    variance, freedom = known[0] if known else (0, 0)
    chance = f_above(variance / assumed, freedom, RUN_PRIOR) if known else 1
    prior = RUN_PRIOR * min(1, 2 * chance)
    total = prior + freedom
    return (prior * assumed + freedom * variance) / total, total


def same_runs(sides):
    """The sides that were measured in the same three runs or more: side -> all of them."""
    by_runs = defaultdict(list)
    for at, side in enumerate(sides):
        if side.of_runs:
            by_runs[side.runs].append(at)
    return {at: tuple(group) for group in by_runs.values() if len(group) > 1 for at in group}


def without_runs(sides, group):
    """Each variance without what the sides of `group` share in a run, and its degrees."""
    table = np.array([[sides[at].deviations[run] for run in sides[at].runs] for at in group])
    squares = ((table - table.mean(axis=0)) ** 2).sum(axis=1)
    freedom = (table.shape[1] - 1) * (len(group) - 1) / len(group)
    return {at: (each / freedom, freedom) for at, each in zip(group, squares, strict=True)}


def moderate(sides, variances):
    """Of each side the variance of its centre, its degrees and the most degrees that any
    comparison may claim. Variances of runs and of trials are not mixed.
    """
    moderated = {}
    for of_runs in (True, False):
        like = {at: each for at, each in variances.items() if sides[at].of_runs == of_runs}
        most = sum(freedom for _, freedom in like.values())
        for at, (variance, freedom) in zip(like, draw_together(list(like.values())), strict=True):
            moderated[at] = (variance * sides[at].weight, min(freedom, most), most)
    return moderated


def draw_together(variances):
    """Each variance drawn towards the mean of all (Smyth 2004), one that is implausibly large
    beside the others less or not at all (Phipson et al. 2016).
    """
    count = len(variances)
    prior = prior_degrees(variances) if count >= 3 else 0
    if prior == 0:
        return variances
    values, degrees = np.array(variances, dtype=float).T
    rest = degrees.sum() - degrees
    others = ((values * degrees).sum() - values * degrees) / rest
    chances = [f_above(*each) for each in zip(values / others, degrees, rest, strict=True)]
    chances = np.array(chances) * count
    weights = np.minimum(1, chances / IMPLAUSIBLE_IN_MEAN) * degrees
    mean = (weights * values).sum() / weights.sum()
    drawn = np.minimum(1, chances / IMPLAUSIBLE) * np.minimum(prior, rest)
    moderated = (drawn * mean + degrees * values) / (drawn + degrees)
    trusted = drawn if prior == math.inf else drawn * (1 - 3 / count)
    return list(zip(moderated, degrees + trusted, strict=True))


def prior_degrees(variances):
    """How alike variances are, by the spread of their logs: 0 unlike, ∞ all the same.

    They are the same unless Bartlett's test rejects that at 2 %.
    """
    values, degrees = np.array(variances, dtype=float).T
    least = LEAST_OF_MEDIAN * float(np.median(values))
    if least == 0:
        return 0
    values = np.maximum(values, least)
    pooled, count = degrees.sum(), len(values)
    ratio = pooled * math.log((degrees * values).sum() / pooled) - (degrees * np.log(values)).sum()
    correction = 1 + ((1 / degrees).sum() - 1 / pooled) / (3 * (count - 1))
    if chi_above(ratio / correction, count - 1) >= UNLIKE:
        return math.inf
    logs = [
        math.log(v) - psi(df / 2) + math.log(df / 2) for v, df in zip(values, degrees, strict=True)
    ]
    chance = np.mean([psi_slope(df / 2) for _, df in variances])
    excess = np.var(logs, ddof=1) - chance
    if excess <= 0:
        return math.inf
    low, high = 1e-3, 1e5
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if psi_slope(middle) > excess else (low, middle)
    return 2 * low


def chi_above(value, degrees):
    """P(χ² > `value`), by the trapezoid rule over the log of χ²."""
    logs = np.linspace(-30, math.log(degrees + 40 * math.sqrt(degrees) + 100), 40_001)
    log_densities = degrees / 2 * logs - np.exp(logs) / 2
    densities = np.exp(log_densities - log_densities.max())
    above = np.where(logs >= math.log(max(value, 1e-12)), densities, 0)
    return float(np.trapezoid(above, logs) / np.trapezoid(densities, logs))


def f_above(ratio, above, below):
    """P(F > `ratio`): the share of a beta variable, the squared sine of an angle, below its x."""
    top = math.asin(math.sqrt(below / (below + above * ratio)))
    inner, outer = (
        np.trapezoid(np.sin(angles) ** (below - 1) * np.cos(angles) ** (above - 1), angles)
        for angles in (np.linspace(0, top, 20_001), np.linspace(0, math.pi / 2, 20_001))
    )
    return float(inner / outer)


STEPS = np.arange(20_000)


def psi(x):
    """The digamma function by its series."""
    rest = (x - 1) / len(STEPS)
    return -np.euler_gamma + float(np.sum(1 / (STEPS + 1) - 1 / (STEPS + x))) + rest


def psi_slope(x):
    """The trigamma function by its series."""
    return float(np.sum(1 / (STEPS + x) ** 2)) + 1 / (len(STEPS) + x - 0.5)


def normal(z):
    return np.interp(z, FINE, BELOW)


def scales_of(freedom):
    """√(χ² ÷ degrees) with the weight of each."""
    if freedom > 1e6:
        return np.array([1.0]), np.array([1.0])
    logs = np.linspace(-max(25 / freedom, 9 / math.sqrt(2 * freedom)), 2.5, 1201)
    half = freedom / 2
    constant = math.log(2) + half * math.log(half) - math.lgamma(half)
    weights = np.exp(constant + freedom * logs - half * np.exp(2 * logs))
    return np.exp(logs), weights * (logs[1] - logs[0])


def quantile(share_within, freedom):
    """The q whose share is 95 %. `share_within(widths)`: how often all lie within, sd known."""
    scales, weights = scales_of(freedom)
    widths = np.linspace(0, 10, 801)
    known = np.array([share_within(width) for width in widths])
    low, high = 0.0, 200.0
    for _ in range(50):
        middle = (low + high) / 2
        share = float(np.interp(middle * scales, widths, known) @ weights)
        low, high = (middle, high) if share < 0.95 else (low, middle)
    return low


def quantile_of_t(freedom):
    """97.5 % of Student's t."""
    return quantile(lambda width: 2 * normal(width) - 1, freedom)


def quantile_of_dunnett(count, freedom, correlation):
    """95 % of the largest |t| of `count` comparisons with one baseline."""
    own, shared = math.sqrt(1 - correlation), math.sqrt(correlation) * Z

    def within(width):
        inside = normal((width + shared) / own) - normal((shared - width) / own)
        return float(inside**count @ WEIGHTS)

    return quantile(within, freedom)


def quantile_of_range(count, freedom):
    """95 % of the largest |t| of all pairs of `count` means."""

    def within(width):
        inside = normal(Z) - normal(Z - math.sqrt(2) * width)
        return float(count * inside ** (count - 1) @ WEIGHTS)

    return quantile(within, freedom)
