"""The difference of two series before it is judged: its value, its noise and its degrees."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import inf, sqrt
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from backend.stats.noise import Noise
from backend.stats.replicates import Units
from backend.stats.thresholds import RUN_VARIATION

# Of the largest |t| of a family, by the degrees of freedom of one of its comparisons.
Quantile = Callable[[float], float]
# Where the variation between runs comes from: assumed, the host's history, or the runs of one side.
RunSource = Literal["assumed", "host", "side"]


class RunVariation(Struct, frozen=True, gc=False):
    """The standard deviation between runs (log scale), and its degrees of freedom."""

    sd: float
    freedom: float
    source: RunSource


class Contrast(Struct, frozen=True, gc=False):
    """A difference of two centres and its noise, before the family's quantile.

    `parts`: of the variance, those of the first and the second series first. `rounding`: what
    rounding adds to the half width. `between`: how much runs differ, where that is in the variance.
    """

    value: float
    parts: Sequence[Noise]
    variance: float
    rounding: float
    between: RunVariation | None

    @property
    def error(self) -> float:
        return sqrt(self.variance)

    @property
    def base_share(self) -> float:
        """The share of the variance that comes from the first series."""
        return self.parts[0].variance / self.variance if self.variance else 0.5

    @property
    def freedom(self) -> float:
        """The degrees of freedom, by Welch and Satterthwaite."""
        squares = sum([part.variance**2 / part.freedom for part in self.parts])
        freedom = self.variance**2 / squares if squares else inf
        return max(1.0, min(freedom, max([part.pooled for part in self.parts])))

    def exceeds(self, quantile: Quantile, floor: float) -> bool:
        """Whether the interval excludes 0."""
        half_width = max(quantile(self.freedom) * self.error, floor) + self.rounding
        return abs(self.value) > half_width

    def by_own_noise_of_first(self) -> Contrast | None:
        """The contrast with the noise of the first series alone; None if it has that noise."""
        noise, *rest = self.parts
        if noise.alone is None:
            return None
        variance, freedom = noise.alone
        own = Noise(variance, freedom, noise.pooled)
        total = self.variance - noise.variance + variance
        return replace(self, parts=(own, *rest), variance=total)


def next_run(first: Units, second: Units, noises: tuple[Noise, Noise]) -> Contrast:
    """The difference of one or two runs from at least three runs of the same history.

    The interval is that of a prediction: the variance between the runs of the history holds for the
    new runs too, with the same degrees of freedom (Hahn & Meeker, *Statistical Intervals*, 1991,
    section 4.7). Trials that vary more than that explains add what is left.
    """
    history, trials = noises
    between = history.variance * len(first.runs)
    of_new = between / len(second.runs)
    rest = Noise(max(trials.variance - of_new, 0.0), trials.freedom, trials.pooled)
    expected = Noise(history.variance + of_new, history.freedom, history.pooled)
    return Contrast(
        value=second.centre - first.centre,
        parts=(expected, rest),
        variance=expected.variance + rest.variance,
        rounding=first.rounding + second.rounding,
        between=RunVariation(sqrt(between), history.freedom, "side"),
    )


def run_exposure(first: Units, second: Units) -> float:
    """How many times the variance between runs is in the difference of two centres.

    Sides of three runs or more show that variance themselves. Runs that both sides have cancel.
    """
    if first.runs == second.runs:
        return 0.0
    shares: dict[Hashable, float] = {}
    for side, sign in ((first, -1.0), (second, 1.0)):
        if not side.of_runs:
            for run in side.runs:
                shares[run] = shares.get(run, 0.0) + sign / len(side.runs)
    return sum(share * share for share in shares.values())


def run_variation(first: Units, second: Units) -> RunVariation:
    """How much runs differ, where no history says it and one side has fewer than three runs.

    An assumed value, unless the runs of the other side differ by more.
    """
    for side in (first, second):
        if side.of_runs and side.variance > RUN_VARIATION**2:
            return RunVariation(sqrt(side.variance), side.freedom, "side")
    return RunVariation(RUN_VARIATION, inf, "assumed")
