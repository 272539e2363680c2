"""How many trials: Stein's two stages for a run that measures until its interval is narrow enough,
advice for a comparison that is not decided yet, and which difference it could have found.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, floor, log1p, sqrt
from statistics import NormalDist, fmean

from msgspec.structs import replace

from backend.stats.comparison import Comparison, Precision
from backend.stats.replicates import CONFIDENCE, Unit
from backend.stats.student import t_quantile
from backend.stats.thresholds import (
    LEAST_RUNS,
    LEAST_TRIALS,
    ODDS_OF_FINDING,
    RELEVANT_SHARE,
)

# More trials, starts or runs are not worth the time of a machine: less noise helps sooner.
MOST_ADVISED = 30
# The chance of a verdict that advice aims at: two in three. Four in five would need three times as
# many trials.
ODDS = 2 / 3
_NORMAL = NormalDist()
# Without a bound, the exponential of hopeless noise overflows.
_LARGEST_LOG = 10.0


def two_stage_size(first_stage: Sequence[float], half_width: float) -> int:
    """How many trials in all make a 95 % interval of ± `half_width` (Stein, Ann. Math. Stat. 1945).

    `first_stage`: logs of at least `LEAST_TRIALS` trials; `half_width` on the log scale. The mean
    of all trials ± `half_width` is then the interval, whatever noise the later trials show.
    """
    count = len(first_stage)
    if count < LEAST_TRIALS or half_width <= 0:
        raise ValueError(
            f"got {count} trials, ± {half_width}; expected {LEAST_TRIALS} or more and above 0"
        )
    mean = fmean(first_stage)
    variance = sum((value - mean) ** 2 for value in first_stage) / (count - 1)
    t = t_quantile((1 + CONFIDENCE) / 2, count - 1)
    return max(count, floor(variance * t * t / (half_width * half_width)) + 1)


@dataclass(frozen=True, slots=True)
class Advice:
    """`more` trials on each side, or starts or runs (`unit`), lead to a verdict with these odds.
    Of a build and its history, only runs of the build are to come.

    None: not even `MOST_ADVISED` do.
    """

    more: int | None
    unit: Unit
    odds: float = ODDS


def least_difference(precision: Precision) -> float:
    """The smallest difference, as a share, that so many trials show in four of five cases or more.

    The estimate lies around the difference with the error that the trials show (Student's t), and
    clears the half width of the interval with `ODDS_OF_FINDING`.
    """
    beyond = t_quantile(ODDS_OF_FINDING, max(precision.freedom, 1.0)) * precision.error
    return exp(min(precision.half_width + beyond, _LARGEST_LOG)) - 1


def trials_needed(comparison: Comparison, *, relevant: float = RELEVANT_SHARE) -> Advice | None:
    """How many more trials on each side, or starts or runs, decide a comparison (see `Advice`).

    Decided: the interval clears the threshold, or lies within it. None if the noise is unknown.
    """
    precision = comparison.precision
    if precision is None:
        return None
    threshold = log1p(relevant)
    is_short = precision.unit == "run" and precision.steady is None
    fewest = max(1, LEAST_RUNS - precision.units) if is_short else 1

    def is_enough(more: int) -> bool:
        return _odds(comparison.value, precision, more, threshold) >= ODDS

    more = bisect_left(range(MOST_ADVISED + 1), True, lo=fewest, key=is_enough)
    return Advice(more if more <= MOST_ADVISED else None, precision.unit)


def _odds(value: float, precision: Precision, more: int, threshold: float) -> float:
    """The chance of a decided interval after `more` units a side, estimated from the units so far.

    The later difference lies around today's, with the variance that the new units take away.
    """
    total = precision.units + more
    steady = precision.steady or 0.0
    error = sqrt(steady + (precision.error**2 - steady) * precision.units / total)
    freedom = 2 * total - 2 if precision.steady is None else precision.freedom + more
    later = replace(precision, error=error, quantile=_later_quantile(precision, freedom))
    spread = sqrt(precision.error**2 - error**2) or 1e-9
    clear = threshold + later.half_width
    within = max(threshold - later.half_width, 0.0)
    inside = _NORMAL.cdf((within - value) / spread) - _NORMAL.cdf((-within - value) / spread)
    beyond = _NORMAL.cdf((-clear - value) / spread) + _NORMAL.cdf((value - clear) / spread)
    return inside + beyond


def _later_quantile(precision: Precision, freedom: float) -> float:
    """The quantile of the same family with more degrees of freedom."""
    upper = (1 + CONFIDENCE) / 2
    now = t_quantile(upper, round(max(precision.freedom, 1.0), 1))
    return precision.quantile * min(1.0, t_quantile(upper, freedom) / now)
