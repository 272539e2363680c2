"""Whether the steps of an ordered series are more than a drift that neighbouring positions share.

Levels with steps and one level without are both fitted by maximum likelihood, each with a
correlation of neighbours of its own (a first-order autoregression). A drift explains a step badly,
because a step does not come slowly; a step explains a drift badly, because a drift does not stay.
A correlation that is estimated from what the steps leave is too small for a drift: the steps have
taken most of it out.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import exp, inf, log, sqrt
from statistics import fmean

# What −2 × the log likelihood must gain by each step, beside the log of the number of positions:
# a step is searched for among them. Set by `scripts/bench truth`, so that at most one series in
# twenty shows a change where neighbours share up to 0.6 of their noise.
LEAST_GAIN = 10.0
_CORRELATIONS = tuple(step / 20 for step in range(20))


def exceed_drift(means: Sequence[float], starts: Sequence[int], weakest: int) -> bool:
    """Whether steps at `starts` explain the positions' means better than a drift alone does.

    All steps must gain enough together, and the one of index `weakest` beside the others.
    """
    least, centre = LEAST_GAIN + log(len(means)), fmean(means)
    distances = [mean - centre for mean in means]
    others = [*starts[:weakest], *starts[weakest + 1 :]]
    with_all = _misfit(distances, starts)
    gain_of_weakest = _misfit(distances, others) - with_all
    if not others or gain_of_weakest <= least:
        return gain_of_weakest > least
    return _misfit(distances, []) - with_all > least * len(starts)


def least_distance(count: int) -> float:
    """How many standard errors a single step must be, so that it exceeds a drift.

    Of positions that share no noise: −2 × the log likelihood gains count × log(1 + t² ÷ degrees).
    """
    least = LEAST_GAIN + log(count)
    return sqrt((exp(least / count) - 1) * (count - 2))


def _misfit(means: Sequence[float], starts: Sequence[int]) -> float:
    """−2 × the largest log likelihood of levels that begin at `starts`, up to a constant.

    −∞ where the levels leave nothing.
    """
    segments = [range(low, high) for low, high in pairwise([0, *starts, len(means)])]
    return min(_misfit_at(means, segments, correlation) for correlation in _CORRELATIONS)


def _misfit_at(means: Sequence[float], segments: Sequence[range], correlation: float) -> float:
    # An innovation is the part of a position that its neighbour does not explain.
    first = means[0] * sqrt(1 - correlation**2)
    innovations = [first, *(after - correlation * before for before, after in pairwise(means))]
    squares = sum(value * value for value in innovations)
    left = squares - _explained(innovations, segments, correlation)
    # Where nothing is left, rounding may give a negative number.
    if left <= 1e-12 * squares:
        return -inf
    return len(means) * log(left) - log(1 - correlation**2)


def _explained(innovations: Sequence[float], segments: Sequence[range], share: float) -> float:
    """The squares of innovations that the best levels of the segments explain.

    Only the first innovation of a segment contains the level before, so that the normal equations
    have three diagonals, and are solved from the first level to the last.
    """
    keep, edge = 1 - share, sqrt(1 - share**2)
    explained = weight = total = 0.0
    for segment in segments:
        is_first, is_last = segment.start == 0, segment.stop == len(innovations)
        # How much of the level before is left to be explained, once that level is solved for.
        passed = 0.0 if is_first else share / weight
        begin = edge if is_first else 1.0
        inner = sum(innovations[at] for at in segment[1:])
        below = 0.0 if is_last else share
        total = begin * innovations[segment.start] + keep * inner + passed * total
        total -= 0.0 if is_last else share * innovations[segment.stop]
        weight = begin**2 + keep**2 * (len(segment) - 1) + below**2 - passed * share
        explained += total * total / weight
    return explained
