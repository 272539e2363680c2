"""The knee of a sweep: from which load on more load brings no more throughput.

It is the lowest measured load above which no load brings a significant and relevant gain.
Kneedle (Satopää et al., ICDCSW 2011) takes the point furthest above the chord instead: that point
moves with the scale of the axis and with the highest load measured, is found in pure noise too,
and on a curve that saturates lies well before the highest throughput.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from statistics import fmean
from typing import Literal

from backend.stats.intervals import ratio
from backend.stats.thresholds import LEAST_LOADS, LEAST_TRIALS, RELEVANT_SHARE

# few: too few loads or trials · rising: throughput rises up to the highest load · unsure: too noisy
# to say whether it does
Outcome = Literal["found", "few", "rising", "unsure"]


@dataclass(frozen=True)
class Load:
    """A measured load (connections or offered rate) and the throughput of each trial there."""

    x: float
    throughput: tuple[float, ...]

    @property
    def is_measured(self) -> bool:
        """Whether there are enough trials (3), each with a throughput above 0."""
        return len(self.throughput) >= LEAST_TRIALS and min(self.throughput) > 0

    @cached_property
    def level(self) -> float:
        """Geometric mean of the trials."""
        return exp(fmean(map(log, self.throughput)))


@dataclass(frozen=True, slots=True)
class Knee:
    """Where the knee is, and the range of measured loads in which it may lie."""

    outcome: Outcome
    # The highest load that was measured with 3 trials.
    highest: float | None = None
    x: float | None = None
    # The measured load just below `x`. None where `x` is the lowest.
    above: float | None = None
    # A lower load that may be the knee: too few trials to exclude it.
    perhaps: float | None = None
    # More load brings at most this share more throughput (highest upper end of a 95 % interval).
    excess: float | None = None


def find_knee(loads: Sequence[Load], *, relevant: float = RELEVANT_SHARE) -> Knee:
    """The knee of `loads`, in any order. Loads that are not measured (`is_measured`) are ignored.

    Where the means show a gain that is not significant, the knee is either at that load
    (`perhaps`) or at the next load where the means show no gain.
    """
    measured = [load for load in loads if load.is_measured]
    if len(measured) < LEAST_LOADS:
        return Knee("few")
    ordered = sorted(measured, key=lambda load: load.x)
    highest = ordered[-1].x
    perhaps: float | None = None
    for at, load in enumerate(ordered[:-1]):
        rest = ordered[at + 1 :]
        gains = _gains_by_mean(load, rest, relevant)
        if not gains:
            above = ordered[at - 1].x if at else None
            return Knee("found", highest, load.x, above, perhaps, _excess(load, rest))
        if _has_gain(load, gains, relevant):
            perhaps = None
        elif perhaps is None:
            perhaps = load.x
    return Knee("rising" if perhaps is None else "unsure", highest, perhaps=perhaps)


def _gains_by_mean(load: Load, rest: Sequence[Load], relevant: float) -> list[Load]:
    """The higher loads whose mean is a relevant gain; the largest first, as the likeliest."""
    enough = load.level * (1 + relevant)
    gains = [other for other in rest if other.level > enough]
    return sorted(gains, key=lambda other: -other.level)


def _has_gain(load: Load, others: Sequence[Load], relevant: float) -> bool:
    ratios = (ratio(load.throughput, other.throughput, relevant=relevant) for other in others)
    return any(gain.verdict == "improved" for gain in ratios)


def _excess(load: Load, higher: Sequence[Load]) -> float:
    bounds = (ratio(load.throughput, other.throughput).high for other in higher)
    return max(0.0, *(bound - 1 for bound in bounds if bound is not None))
