"""The knee of a sweep: from which load on more load brings no more throughput.

It is the lowest measured load that is not certainly exceeded: every lower load has a higher one
that clears the threshold above it, and by the means no load brings a relevant gain over it. The
intervals of a load against all higher loads hold at once (see `comparison`).

Kneedle (Satopää et al., ICDCSW 2011) takes the point furthest above the chord instead: that point
moves with the scale of the axis and with the highest load measured, is found in pure noise too,
and on a curve that saturates lies well before the highest throughput.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import expm1, log, log1p
from typing import Literal

from msgspec import Struct

from backend.stats.comparison import Comparison, Page, Rule
from backend.stats.replicates import Observation, Sample
from backend.stats.thresholds import LEAST_LOADS, LEAST_TRIALS, RELEVANT_SHARE

# few: too few loads or trials · rising: throughput rises up to the highest load · unsure: too noisy
# to say whether it does
Outcome = Literal["found", "few", "rising", "unsure"]


class Load(Struct, frozen=True, gc=False):
    """A measured load (connections or offered rate) and the throughput of each trial there.

    `measured`: the same trials with their runs and rounds; without it, all are of one run.
    """

    x: float
    throughput: tuple[float, ...]
    measured: Sample | None = None

    @property
    def is_measured(self) -> bool:
        """Whether there are enough trials (3), each with a throughput above 0."""
        return len(self.throughput) >= LEAST_TRIALS and min(self.throughput) > 0

    @property
    def sample(self) -> Sample:
        """The trials as the statistics see them."""
        if self.measured is not None:
            return self.measured
        return Sample(tuple(Observation(log(value), run=None) for value in self.throughput))


@dataclass(frozen=True, slots=True)
class Knee:
    """Where the knee is, and the range of measured loads in which it may lie."""

    outcome: Outcome
    # The highest load that was measured with 3 trials.
    highest: float | None = None
    x: float | None = None
    # The measured load just below `x`. None where `x` is the lowest.
    above: float | None = None
    # Where unsure: the lowest load that may be the knee.
    perhaps: float | None = None
    # More load brings at most this share more throughput (highest upper end of the intervals).
    excess: float | None = None


def find_knee(loads: Sequence[Load], *, relevant: float = RELEVANT_SHARE) -> Knee:
    """The knee of `loads`, in any order. Loads that are not measured (`is_measured`) are ignored.

    Where the means show a gain over the first load that is not certainly exceeded, the knee may be
    there (`perhaps`) or higher: the outcome is unsure.
    """
    measured = [load for load in loads if load.is_measured]
    if len(measured) < LEAST_LOADS:
        return Knee("few")
    ordered = sorted(measured, key=lambda load: load.x)
    highest = ordered[-1].x
    page, rule = Page([load.sample for load in ordered]), Rule("higher", relevant)
    for at, load in enumerate(ordered[:-1]):
        gains = _gains_unless_exceeded(page, at, len(ordered), rule)
        if gains is not None:
            above = ordered[at - 1].x if at else None
            return _knee_at(load.x, above, highest, gains, relevant=relevant)
    return Knee("rising", highest)


def _gains_unless_exceeded(page: Page, at: int, count: int, rule: Rule) -> list[Comparison] | None:
    """The gains of all higher loads; None if one of them certainly brings more throughput."""
    gains = []
    for gain in page.each_against(at, range(at + 1, count), rule):
        # The others decide nothing more, and most loads below the knee are exceeded by the next.
        if gain.verdict == "improved":
            return None
        gains.append(gain)
    return gains


def _knee_at(
    x: float, above: float | None, highest: float, gains: Sequence[Comparison], *, relevant: float
) -> Knee:
    if max(gain.value for gain in gains) > log1p(relevant):
        return Knee("unsure", highest, perhaps=x)
    return Knee("found", highest, x, above, excess=_excess(gains))


def _excess(gains: Sequence[Comparison]) -> float:
    return max(0.0, *(expm1(gain.high) for gain in gains if gain.high is not None))
