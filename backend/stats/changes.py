"""Change points: where in an ordered series of positions the level of a figure changed.

A position (a version, a day) has the values of its trials. The best segmentation of the positions
is found by optimal partitioning (Jackson et al., IEEE SPL 2005; pruned: Killick et al., JASA 2012)
in the library fastcpd; each change that it proposes is then tested, and changes that noise explains
are removed, the weakest first, as Hunter and Otava do (Fleming et al., ICPE '23).

Trials at different positions differ by more than trials at one position: another day, another
build, another start of the server. A change must exceed both kinds of noise. Because its place is
searched for, the test is stricter by the number of possible places (Bonferroni). And the changes
must explain the series better than a slow drift does (see `drift`).

A position that something disturbed is no new level: a level has at least three positions, of which
four in five are nearer to it than to the level beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import exp, inf, log, log1p, sqrt
from statistics import fmean, median

from backend.stats.comparison import USUAL, Rule, against_baseline
from backend.stats.drift import exceed_drift, least_distance
from backend.stats.ratio import Ratio
from backend.stats.replicates import Observation, Sample, shared_confidence
from backend.stats.student import t_quantile
from backend.stats.thresholds import ODDS_OF_FINDING

# At most one change for every third position: the others show the noise.
POSITIONS_FOR_A_CHANGE = 3
# A level has as many positions, and at most this share of them is nearer to the level beside it.
LEAST_OF_LEVEL = 3
MOST_ASTRAY = 0.2
LEAST_POSITIONS = 2 * LEAST_OF_LEVEL
# Positions that share more than this of their noise show a drift, and no levels.
MOST_CORRELATION = 0.9
# A series that hides a change of its whole level says nothing of use.
MOST_NAMED = 1.0
# The median of |N(0, 1)|.
_MEDIAN_OF_NORMAL = 0.6745


@dataclass(frozen=True, slots=True)
class Change:
    """A new level from position `index` on, until the next change."""

    index: int
    # Geometric means of the trials from the change before, and until the change after.
    before: float
    after: float
    # after ÷ before; always significant, and by its value relevant. Its verdict is improved or
    # regressed where the whole interval is beyond the threshold, else size_uncertain.
    ratio: Ratio


@dataclass(frozen=True, slots=True)
class _Series:
    """The trials of each position and the mean of their logs."""

    trials: tuple[tuple[float, ...], ...]
    means: tuple[float, ...]
    # The variance of a position's mean caused by its trials alone: the least possible noise.
    floor: float
    rule: Rule
    # How many such series, and other families of intervals, share the error of the page.
    families: int

    def quantile_at(self, places: int) -> float:
        """The share of noise that stays below a change, at each of so many places (Bonferroni)."""
        return 1 - (1 - shared_confidence(self.families)) / 2 / places


def find_changes(
    positions: Sequence[Sequence[float]], rule: Rule = USUAL, *, families: int = 1
) -> list[Change]:
    """The changes that are significant and relevant, in order; none below 6 positions.

    `positions`: the trial values of each; empty positions are skipped. Where any value is 0 or
    less there is no ratio, so the list is empty. `families`: how many such series, and other
    families of intervals, share the 5 % (Šidák).
    """
    indexes = [index for index, trials in enumerate(positions) if trials]
    trials = tuple(tuple(positions[index]) for index in indexes)
    if len(indexes) < LEAST_POSITIONS or min(min(each) for each in trials) <= 0:
        return []
    series = _series(trials, rule, families)
    changes = _kept(series, _candidates(series))
    return [replace(change, index=indexes[change.index]) for change in changes]


def _series(trials: Sequence[tuple[float, ...]], rule: Rule, families: int) -> _Series:
    means = tuple(fmean(map(log, each)) for each in trials)
    return _Series(tuple(trials), means, _floor(trials), rule, families)


def least_change(
    positions: Sequence[Sequence[float]], rule: Rule = USUAL, *, families: int = 1
) -> float | None:
    """The share by which the level in the middle of a series without a change would have had to
    change, so that about four of five such changes are found; None for more than twice."""
    trials = tuple(tuple(each) for each in positions if each)
    count = len(trials)
    if count < LEAST_POSITIONS or min(min(each) for each in trials) <= 0:
        return None
    series = _series(trials, rule, families)
    noise = _measure_noise(series, [range(count)])
    error = sqrt(noise.of_mean(count // 2) + noise.of_mean(count - count // 2))
    by_place = t_quantile(series.quantile_at(count - 1), noise.freedom)
    distance = max(by_place, least_distance(count)) + t_quantile(ODDS_OF_FINDING, noise.freedom)
    share = max(exp(min(distance * error, 1.0)) - 1, rule.relevant)
    return share if share < MOST_NAMED else None


def _floor(trials: Sequence[Sequence[float]]) -> float:
    repeated = [[log(value) for value in each] for each in trials if len(each) > 1]
    freedom = sum(len(each) - 1 for each in repeated)
    if not freedom:
        return 0.0
    squares = sum((value - fmean(each)) ** 2 for each in repeated for value in each)
    return squares / freedom * fmean(1 / len(each) for each in trials)


def _candidates(series: _Series) -> list[int]:
    """Where the best segmentation starts again, at most once for every third position."""
    steps = [abs(after - before) for before, after in pairwise(series.means)]
    noise = max(
        median(steps) / _MEDIAN_OF_NORMAL / sqrt(2),
        sqrt(series.floor),
        # Steps below a tenth of the relevant share need not be found.
        log(1 + series.rule.relevant) / 10,
        1e-9,
    )
    count = len(series.means)
    scaled, penalty = [mean / noise for mean in series.means], log(count)
    while True:
        starts = best_segmentation(scaled, penalty)
        if len(starts) <= (count - 1) // POSITIONS_FOR_A_CHANGE:
            return starts
        penalty *= 1.5


def best_segmentation(values: Sequence[float], penalty: float) -> list[int]:
    """Where segments start so that half the squares around their means + penalties are least."""
    # Only a trend needs the library: no other request pays for its import.
    import numpy as np
    from fastcpd.segmentation import detect_mean

    segmentation = detect_mean(
        np.array(values).reshape(-1, 1),
        beta=penalty,
        cost_adjustment=None,
        variance_estimation=np.eye(1),
        cp_only=True,
    )
    return [int(start) for start in segmentation.cp_set]


def _kept(series: _Series, starts: list[int]) -> list[Change]:
    """The changes that pass their test; the weakest that fails is merged away until all pass."""
    while starts:
        tested = _tested(series, starts)
        failing = [index for index, (_, change) in enumerate(tested) if change is None]
        weakest = min(failing or range(len(starts)), key=lambda index: tested[index][0])
        if not failing and exceed_drift(series.means, starts, weakest):
            return [change for _, change in tested if change is not None]
        starts = starts[:weakest] + starts[weakest + 1 :]
    return []


def _tested(series: _Series, starts: Sequence[int]) -> list[tuple[float, Change | None]]:
    """Each change's distance in standard errors, and the change; None if it fails the test."""
    bounds = [0, *starts, len(series.means)]
    segments = [range(low, high) for low, high in pairwise(bounds)]
    noise = _measure_noise(series, segments)
    tested = []
    for before, after in pairwise(segments):
        distance, change = _test(series, before, after, noise)
        tested.append((distance, change if _are_levels(series, before, after) else None))
    return tested


def _are_levels(series: _Series, before: range, after: range) -> bool:
    """Whether both last, and are not made of single positions that were disturbed."""
    means = [fmean(series.means[at] for at in segment) for segment in (before, after)]
    middle = fmean(means)
    for segment, mean in zip((before, after), means, strict=True):
        astray = sum((series.means[at] > middle) != (mean > middle) for at in segment)
        if len(segment) < LEAST_OF_LEVEL or astray > MOST_ASTRAY * len(segment):
            return False
    return True


@dataclass(frozen=True, slots=True)
class _Noise:
    """The noise between positions: of one position, and how much neighbours share of it."""

    variance: float
    freedom: float
    correlation: float
    changes: int

    def of_mean(self, count: int) -> float:
        """The variance of the mean of `count` neighbouring positions."""
        return self.variance * _shared(count, self.correlation) / count


def _measure_noise(series: _Series, segments: Sequence[range]) -> _Noise:
    """The noise of positions around the means of their segments.

    Neighbouring positions may share noise (a slow drift of the machine): their correlation is
    estimated, and corrected for the means that were taken out (Marriott & Pope, Biometrika 1954).
    """
    residuals = [
        series.means[at] - fmean(series.means[index] for index in segment)
        for segment in segments
        for at in segment
    ]
    squares = sum(residual * residual for residual in residuals)
    lagged = (
        sum(before * after for before, after in pairwise(residuals)) / squares if squares else 0
    )
    count, means = len(residuals), len(segments)
    corrected = (count * lagged + means) / max(count - 4 * means, 0.75 * count)
    # The noise of a position's own trials is shared with no neighbour.
    own = series.floor * (count - means) / squares if squares else 1.0
    correlation = max(min(corrected, 1 - own, MOST_CORRELATION), 0.0)
    freedom = sum(len(segment) - _shared(len(segment), correlation) for segment in segments)
    variance = max(squares / freedom, series.floor)
    share = (1 - correlation**2) / (1 + correlation**2)
    return _Noise(variance, max(freedom * share, 1.0), correlation, means - 1)


def _shared(count: int, correlation: float) -> float:
    """The variance of a mean of `count` positions ÷ that of independent ones."""
    return 1 + 2 * sum((1 - lag / count) * correlation**lag for lag in range(1, count))


def _test(
    series: _Series, before: range, after: range, noise: _Noise
) -> tuple[float, Change | None]:
    step = fmean(series.means[at] for at in after) - fmean(series.means[at] for at in before)
    error = sqrt(noise.of_mean(len(before)) + noise.of_mean(len(after)))
    distance = abs(step) / error if error else (inf if step else 0.0)
    places = (len(series.means) - 1) * noise.changes
    old, new = (_trials(series, segment) for segment in (before, after))
    bounds = _compare_trials(series, old, new)
    least = t_quantile(series.quantile_at(places), noise.freedom)
    if bounds is None or distance <= least:
        return distance, None
    half = t_quantile(series.quantile_at(1), noise.freedom) * error
    low, high = min(bounds[0], step - half), max(bounds[1], step + half)
    verdict, why = series.rule.verdict(low, high)
    if low <= 0 <= high:
        # Positions and trials disagree about the direction.
        return distance, None
    ratio = Ratio(
        value=_level(new) / _level(old),
        low=exp(low),
        high=exp(high),
        verdict=verdict,
        why=why,
        significant=True,
        relevant=True,
    )
    return distance, Change(after.start, _level(old), _level(new), ratio)


def _compare_trials(
    series: _Series, old: Sequence[float], new: Sequence[float]
) -> tuple[float, float] | None:
    """The interval of the change by its trials, as logarithms.

    None if it includes no change, or if the change does not matter.
    """
    base, other = (
        Sample(tuple(Observation(log(value), run=None) for value in values))
        for values in (old, new)
    )
    (comparison,) = against_baseline(base, [other], families=series.families)
    if not comparison.significant or abs(comparison.value) <= log1p(series.rule.relevant):
        return None
    assert comparison.low is not None
    assert comparison.high is not None
    return comparison.low, comparison.high


def _trials(series: _Series, segment: range) -> list[float]:
    return [value for at in segment for value in series.trials[at]]


def _level(values: Sequence[float]) -> float:
    return exp(fmean(map(log, values)))
