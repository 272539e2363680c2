"""Intervals of a cell and ratios of two, from the logs of trial values.

Trials are the replicates (Hoefler & Belli, SC '15): with n trials the mean of the logs has n − 1
degrees of freedom. Latencies and rates are positive and multiply, so logs are where they add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil, exp, fsum, inf, log, sqrt
from statistics import NormalDist, fmean, median
from typing import Literal

from backend.stats.student import t_quantile
from backend.stats.thresholds import LEAST_TRIALS, RELEVANT_SHARE

CONFIDENCE = 0.95
MOST_TRIALS = 999
NORMAL = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
# Half width ÷ difference at which the interval leaves out ×1 with a probability of 80 %:
# t(97.5 %) ÷ (t(97.5 %) + t(80 %)) for many trials.
SURE_SHARE = 0.7
ALIKE = 1 + 1e-9
# improved, regressed: the interval clears the threshold · unchanged: it lies within the threshold ·
# size_uncertain: it excludes ×1, and neither · inconclusive: it includes ×1, or there is none
Verdict = Literal["improved", "regressed", "unchanged", "size_uncertain", "inconclusive"]
Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A cell's value: the median of its trials, and a 95 % interval (None below 3 trials)."""

    value: float
    low: float | None
    high: float | None
    n: int
    method: str


@dataclass(frozen=True, slots=True)
class Ratio:
    """other ÷ base of the trials' geometric means, its 95 % interval and the verdict."""

    value: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    why: str
    significant: bool
    relevant: bool


def median_interval(values: Sequence[float]) -> Estimate | None:
    """Median with a 95 % interval; None without values.

    The interval is Student's t on the logs (on the values themselves when one is 0), widened to
    hold the median where the two centres differ.
    """
    if not values:
        return None
    centre = float(median(values))
    if len(values) < LEAST_TRIALS:
        method = f"fewer than {LEAST_TRIALS} trials: no interval"
        return Estimate(centre, None, None, len(values), method)
    if min(values) > 0:
        low, high = (exp(bound) for bound in _t_interval([log(value) for value in values]))
    else:
        low, high = _t_interval(values)
    return Estimate(
        centre, min(low, centre), max(high, centre), len(values), "95 % t interval on logs"
    )


def _variance(values: Sequence[float]) -> float:
    # statistics.variance works in fractions, which took a third of a comparison's time.
    mean = fmean(values)
    return fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _t_interval(values: Sequence[float]) -> tuple[float, float]:
    mean = fmean(values)
    half = t_quantile((1 + CONFIDENCE) / 2, len(values) - 1) * sqrt(_variance(values) / len(values))
    return mean - half, mean + half


def ratio(
    base: Sequence[float],
    other: Sequence[float],
    *,
    better: Better = "higher",
    relevant: float = RELEVANT_SHARE,
) -> Ratio:
    """`other` ÷ `base` with a 95 % interval (Welch's t on logs) and a verdict on `other`.

    *Significant*: the interval leaves out 1. *Relevant*: the ratio is further from 1 than the
    share `relevant`. Improved and regressed need both.
    """
    short = min(len(base), len(other))
    if short == 0 or min(*base, *other) <= 0:
        return _inconclusive(None, "a value is unknown or zero")
    logs = _logs(base), _logs(other)
    value = exp(fmean(logs[1]) - fmean(logs[0]))
    if short < LEAST_TRIALS:
        missing = LEAST_TRIALS - short
        # Two trials do not show the noise, so how many trials would decide is unknown.
        return _inconclusive(value, f"an interval needs {missing} more {_trials(missing)} at least")
    judged = _judged(value, _welch([logs]), better, relevant)
    if judged.verdict != "inconclusive":
        return judged
    return replace(judged, why=f"{judged.why}; {_more_trials(logs, relevant)} would decide")


def holding(by_trials: Ratio, shown: float, *, better: Better, relevant: float) -> Ratio:
    """The ratio of trials, widened to hold `shown`: the ratio of the two figures printed beside it.

    A percentile of all requests together may be far from the percentiles of the trials, where one
    trial is unlike the others. Where the wider interval includes ×1, the verdict is inconclusive.
    """
    if by_trials.value is None:
        return by_trials
    if by_trials.low is None or by_trials.high is None:
        return replace(by_trials, value=shown)
    # Rounding on storage makes equal figures differ in their last digit.
    if by_trials.low / ALIKE <= shown <= by_trials.high * ALIKE:
        return by_trials
    bounds = log(min(by_trials.low, shown)), log(max(by_trials.high, shown))
    wider = _judged(by_trials.value, bounds, better, relevant)
    if by_trials.verdict == "inconclusive" or wider.verdict != "inconclusive":
        return replace(wider, why=by_trials.why)
    return replace(wider, why=f"all requests together are at {shown:.3g}×, unlike most trials")


def mean_ratio(
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]],
    *,
    better: Better = "higher",
    relevant: float = RELEVANT_SHARE,
) -> Ratio:
    """The geometric mean of `ratio` over (base, other) pairs, with its 95 % interval and verdict.

    The interval covers the noise of the trials of these pairs (workloads). It says nothing about
    workloads that were not measured.
    """
    sides = list(chain.from_iterable(pairs))
    if not sides or min(min(side, default=0.0) for side in sides) <= 0:
        return _inconclusive(None, "a value is unknown or zero")
    logs = [(_logs(base), _logs(other)) for base, other in pairs]
    value = exp(fmean(fmean(other) - fmean(base) for base, other in logs))
    if min(map(len, sides)) < LEAST_TRIALS:
        return _inconclusive(value, f"fewer than {LEAST_TRIALS} trials somewhere: no interval")
    return _judged(value, _welch(logs), better, relevant)


def _logs(values: Sequence[float]) -> list[float]:
    return [log(value) for value in values]


def _judged(value: float, bounds: tuple[float, float], better: Better, relevant: float) -> Ratio:
    low, high = (exp(bound) for bound in bounds)
    significant, matters = not low <= 1 <= high, abs(log(value)) > log(1 + relevant)
    if significant and matters:
        gain = (value > 1) == (better == "higher")
        verdict: Verdict = "improved" if gain else "regressed"
        return Ratio(value, low, high, verdict, "beyond noise and threshold", True, True)
    if significant or (log(high) < log(1 + relevant) and log(low) > -log(1 + relevant)):
        return Ratio(value, low, high, "unchanged", "within the threshold", significant, matters)
    if value == low == high:
        return Ratio(value, low, high, "unchanged", "equal in every trial", False, matters)
    why = "the interval includes ×1"
    return Ratio(value, low, high, "inconclusive", why, significant, matters)


def _inconclusive(value: float | None, why: str) -> Ratio:
    return Ratio(value, None, None, "inconclusive", why, significant=False, relevant=False)


def _trials(count: int) -> str:
    return "trial" if count == 1 else "trials"


# Two sides of trial values as logarithms.
_Sides = tuple[Sequence[float], Sequence[float]]


def _welch(pairs: Sequence[_Sides]) -> tuple[float, float]:
    """The interval of the mean difference of the pairs, by Welch's t."""
    scale = 1 / len(pairs) ** 2
    sides = [side for pair in pairs for side in pair]
    parts = [scale * _variance(side) / len(side) for side in sides]
    difference = fmean(fmean(other) - fmean(base) for base, other in pairs)
    total = fsum(parts)
    if total == 0:
        return difference, difference
    squares = (part**2 / (len(side) - 1) for part, side in zip(parts, sides, strict=True))
    freedom = total**2 / fsum(squares)
    half = t_quantile((1 + CONFIDENCE) / 2, max(freedom, 1.0)) * sqrt(total)
    return difference - half, difference + half


def _more_trials(logs: _Sides, relevant: float) -> str:
    """How many more trials on each side make the interval narrow enough for a verdict.

    An interval of ± half the threshold either leaves out ×1 or lies within the threshold. A large
    difference needs less: ± `SURE_SHARE` of it leaves out ×1 in four of five cases.
    """
    seen = abs(fmean(logs[1]) - fmean(logs[0]))
    half = max(log(1 + relevant) / 2, SURE_SHARE * seen)
    noise = _variance(logs[0]) + _variance(logs[1])
    has = min(len(logs[0]), len(logs[1]))
    # Guenther (1981): with the normal quantile instead of t's, add a quarter of its square.
    needed = noise * (NORMAL / half) ** 2 + NORMAL**2 / 4 if half else inf
    if needed - has > MOST_TRIALS:
        return f"over {MOST_TRIALS} more trials on each side"
    more = max(1, ceil(needed) - has)
    return f"{more} more {_trials(more)} on each side"


def tiers(estimates: Sequence[Estimate], *, better: Better = "higher") -> list[str]:
    """The rank range of each estimate: "1", or "2-4" where intervals overlap.

    An estimate without an interval overlaps everything: its rank is not known.
    """
    return [_tier(item, estimates, better) for item in estimates]


def _tier(item: Estimate, others: Sequence[Estimate], better: Better) -> str:
    ahead = sum(_clearly_above(other, item, better) for other in others)
    behind = sum(_clearly_above(item, other, better) for other in others)
    first, last = ahead + 1, len(others) - behind
    return str(first) if first == last else f"{first}–{last}"


def _clearly_above(higher: Estimate, lower: Estimate, better: Better) -> bool:
    if higher.low is None or lower.low is None or higher.high is None or lower.high is None:
        return False
    return higher.low > lower.high if better == "higher" else higher.high < lower.low
