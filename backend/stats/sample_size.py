"""How many trials: Stein's two stages for a run that measures until it is narrow enough, and advice
for a comparison that is not decided yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log1p
from statistics import NormalDist, fmean

from backend.stats.replicates import CONFIDENCE
from backend.stats.student import t_quantile
from backend.stats.thresholds import LEAST_TRIALS, RELEVANT_SHARE

MOST_TRIALS = 999
# The odds of a verdict that advice aims at.
ODDS = 0.8


def two_stage_size(first_stage: Sequence[float], half_width: float) -> int:
    """How many trials in all make a 95 % interval of ± `half_width` (Stein, Ann. Math. Stat. 1945).

    `first_stage`: logs of at least three trials. The interval must be computed with the variance
    and the degrees of freedom of the first stage only.
    """
    count = len(first_stage)
    if count < LEAST_TRIALS or half_width <= 0:
        raise ValueError(f"got {count} trials, ± {half_width}; expected 3 or more and above 0")
    mean = fmean(first_stage)
    variance = sum((value - mean) ** 2 for value in first_stage) / (count - 1)
    t = t_quantile((1 + CONFIDENCE) / 2, count - 1)
    return max(count, floor(variance * t * t / (half_width * half_width)) + 1)


@dataclass(frozen=True, slots=True)
class Advice:
    """`more` trials on each side give a verdict with these odds; None: over `MOST_TRIALS`."""

    more: int | None
    odds: float


def trials_needed(
    variances: tuple[float, float],
    counts: tuple[int, int],
    difference: float,
    *,
    relevant: float = RELEVANT_SHARE,
) -> Advice:
    """How many more trials on each side decide a comparison.

    `variances` are of one trial on each side, on the log scale, `counts` the trials so far and
    `difference` the measured difference. A verdict is an interval that clears the threshold, or
    lies within it.
    """
    threshold = log1p(relevant)
    distance = abs(abs(difference) - threshold)
    normal = NormalDist()
    quantile = normal.inv_cdf((1 + CONFIDENCE) / 2) + normal.inv_cdf(ODDS)
    half = max(distance, threshold / 4)
    needed = sum(variances) * (quantile / half) ** 2 + quantile * quantile / 4
    more = max(1, ceil(needed) - min(counts)) if needed != inf else MOST_TRIALS + 1
    return Advice(None if more > MOST_TRIALS else more, ODDS)
