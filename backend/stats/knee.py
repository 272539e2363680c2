"""The knee of a sweep: from which load on more load brings no more throughput.

It is the lowest measured load to which no higher one is a gain that is significant and relevant.
Kneedle (Satopää et al., ICDCSW 2011) takes the point furthest above the chord instead: that place
moves with the scale of the axis and with how far beyond it was measured, is found in pure noise
too, and on a curve that saturates stands well before the most is reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean
from typing import Literal

from backend.stats.intervals import ratio
from backend.stats.thresholds import LEAST_LOADS, LEAST_TRIALS, RELEVANT_SHARE

# few: too little measured · rising: up to the highest load · unsure: whether it rises to the last
Outcome = Literal["found", "few", "rising", "unsure"]


@dataclass(frozen=True, slots=True)
class Load:
    """A measured load (connections or offered rate) and the throughput of each trial there."""

    x: float
    throughput: tuple[float, ...]

    @property
    def level(self) -> float:
        """Geometric mean of the trials."""
        return exp(fmean(map(log, self.throughput)))


@dataclass(frozen=True, slots=True)
class Knee:
    """Where the knee is, and between which measured loads it may be as well."""

    outcome: Outcome
    # The highest load that was measured with 3 trials.
    highest: float | None = None
    x: float | None = None
    # The highest load below `x`: nothing was measured in between. None for the lowest load.
    above: float | None = None
    # A lower load, where more trials are missing to tell it from the knee.
    perhaps: float | None = None
    # More load brings at most this share more throughput (95 % interval, the highest of them).
    excess: float | None = None


def find_knee(loads: Sequence[Load], *, relevant: float = RELEVANT_SHARE) -> Knee:
    """The knee of `loads`, in any order. Loads of fewer than 3 trials say nothing, nor does 0.

    A gain that the means show but the trials do not bear out leaves open whether the knee is
    there (`perhaps`) or at the next load where the means show none.
    """
    known = sorted(
        (one for one in loads if len(one.throughput) >= LEAST_TRIALS and min(one.throughput) > 0),
        key=lambda one: one.x,
    )
    if len(known) < LEAST_LOADS:
        return Knee("few")
    levels = {one.x: one.level for one in known}
    perhaps: float | None = None
    for at, one in enumerate(known[:-1]):
        above_by_mean = (
            other for other in known[at + 1 :] if levels[other.x] > levels[one.x] * (1 + relevant)
        )
        # The highest first: it is the likeliest gain.
        higher = sorted(above_by_mean, key=lambda other: -levels[other.x])
        if not higher:
            above = known[at - 1].x if at else None
            excess = _excess(one, known[at + 1 :])
            return Knee("found", known[-1].x, one.x, above, perhaps, excess)
        if any(_gains(one, other, relevant) for other in higher):
            perhaps = None
        elif perhaps is None:
            perhaps = one.x
    return Knee("rising" if perhaps is None else "unsure", known[-1].x, perhaps=perhaps)


def _gains(one: Load, other: Load, relevant: float) -> bool:
    return ratio(one.throughput, other.throughput, relevant=relevant).verdict == "improved"


def _excess(one: Load, higher: Sequence[Load]) -> float:
    bounds = (ratio(one.throughput, other.throughput).high for other in higher)
    return max(0.0, *(bound - 1 for bound in bounds if bound is not None))
