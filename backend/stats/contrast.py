"""The difference of two series before it is judged: its value, its noise and its degrees."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import inf, sqrt
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from backend.stats.noise import Noise, f_tail
from backend.stats.replicates import Sample, Scope, Units
from backend.stats.thresholds import RUN_PRIOR, RUN_VARIATION

# Of the largest |t| of a family, by the degrees of freedom of one of its comparisons.
Quantile = Callable[[float], float]
# What is assumed counts in full up to here: as large a variance is as likely as not.
PLAUSIBLE = 0.5
# Where the variation between runs comes from: assumed, the host's history, or the runs of one side.
RunSource = Literal["assumed", "host", "side"]


class RunVariation(Struct, frozen=True, gc=False):
    """How much runs differ (log scale).

    `sd`: the standard deviation to be expected. `variance`: what intervals count with, and its
    degrees of `freedom`.
    """

    sd: float
    variance: float
    freedom: float
    source: RunSource


class Sides(Struct, frozen=True, gc=False):
    """Two series, or the parts of them that are compared, with the noise of each centre."""

    first: Units
    second: Units
    noises: tuple[Noise, Noise] | None
    are_parts: bool = False

    @property
    def scope(self) -> Scope:
        first, second = self.first, self.second
        if self.are_parts:
            return "shared run" if len(first.runs) == 1 else "these runs"
        if first.unit == second.unit == "run":
            return "runs"
        if first.runs != second.runs:
            return "runs"
        return first.scope if first.unit != "run" else second.scope


def only_runs(sample: Sample, runs: frozenset[Hashable]) -> Sample:
    """The trials of these runs."""
    return replace(
        sample, observations=tuple([each for each in sample.observations if each.run in runs])
    )


class Contrast(Struct, frozen=True, gc=False):
    """A difference of two centres and its noise, before the family's quantile.

    `parts`: of the variance, those of the first and the second series first. `rounding`: what
    rounding adds to the half width. `between`: how much runs differ, where that is in the variance.
    `steady`: the part of the variance that more runs of the second series leave as it is, where
    only these are to come.
    """

    value: float
    parts: Sequence[Noise]
    variance: float
    rounding: float
    between: RunVariation | None
    steady: float | None = None

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


def are_apart(history: Units, new: Units) -> bool:
    """Whether there are three runs or more of a history, and other runs beside them.

    Sides of three runs or more that share some are compared run by run.
    """
    return history.unit == "run" and (new.unit != "run" or history.runs.isdisjoint(new.runs))


def new_runs(history: Units, new: Units, noises: tuple[Noise, Noise]) -> Contrast:
    """The difference of new runs from at least three runs of the same history.

    The interval is that of a prediction: the variance between the runs of the history holds for the
    new runs too, with the same degrees of freedom (Hahn & Meeker, *Statistical Intervals*, 1991,
    section 4.7). Two new runs or more show that variance themselves, so both estimates are pooled;
    the history counts less the less plausible it makes theirs, as what is assumed does in
    `sharpen`. Trials that vary more than runs explain add what is left.
    """
    of_history, of_new = noises
    count, freedom = len(new.runs), len(new.runs) - 1
    between, prior = of_history.variance * len(history.runs), of_history.freedom
    pooled = of_history.pooled
    if freedom:
        squares = new.squares_of_runs
        chance = _chance_of(squares / freedom, freedom, between, prior)
        prior *= min(1.0, chance / PLAUSIBLE)
        between = (prior * between + squares) / (prior + freedom)
        pooled += 0.0 if new.unit == "run" else freedom
    expected = Noise(between / len(history.runs) + between / count, prior + freedom, pooled)
    # The variance of whole runs has that of their trials in it.
    of_trials = 0.0 if new.unit == "run" else max(of_new.variance - between / count, 0.0)
    rest = Noise(of_trials, of_new.freedom, of_new.pooled)
    return Contrast(
        value=new.centre - history.centre,
        parts=(expected, rest),
        variance=expected.variance + rest.variance,
        rounding=history.rounding + new.rounding,
        between=RunVariation(sqrt(between), between, prior + freedom, "side"),
        steady=between / len(history.runs),
    )


def _chance_of(variance: float, freedom: float, expected: float, prior: float) -> float:
    """The chance of so large a variance, if `expected` was estimated with `prior` degrees."""
    if not expected:
        return 0.0 if variance else 1.0
    return f_tail(variance / expected, freedom, prior)


def run_exposure(first: Units, second: Units) -> float:
    """How many times the variance between runs is in the difference of two centres.

    Sides of three runs or more show that variance themselves. Runs that both sides have cancel.
    """
    if first.runs == second.runs:
        return 0.0
    shares: dict[Hashable, float] = {}
    for side, sign in ((first, -1.0), (second, 1.0)):
        if side.unit != "run":
            for run in side.runs:
                shares[run] = shares.get(run, 0.0) + sign / len(side.runs)
    return sum(share * share for share in shares.values())


def sharpen(variance: float, freedom: float, source: RunSource) -> RunVariation:
    """What is assumed of runs, sharpened by a history that shows `variance`.

    A history of few runs shows no variation by chance, or far too much. So what is assumed counts
    as `RUN_PRIOR` comparisons between runs of its own (a scaled inverse χ² prior; Gelman et al.,
    *Bayesian Data Analysis*, 2013, section 2.6), and no history replaces it by 0. It counts less
    the less plausible it makes the history, so a host whose runs differ by far more is believed.
    """
    assumed = RUN_VARIATION**2
    scale = assumed * (1 - 2 / RUN_PRIOR)
    chance = _chance_of(variance, freedom, scale, RUN_PRIOR) if freedom else 1.0
    prior = RUN_PRIOR * min(1.0, chance / PLAUSIBLE)
    total = prior + freedom
    return RunVariation(
        sd=sqrt((prior * assumed + freedom * variance) / total),
        variance=(prior * scale + freedom * variance) / total,
        freedom=total,
        source=source,
    )


def run_variation(first: Units, second: Units) -> RunVariation:
    """How much runs differ, where no history says it and one side has fewer than three runs."""
    for side in (first, second):
        if side.unit == "run":
            return sharpen(side.variance, side.freedom, "side")
    return sharpen(0.0, 0, "assumed")


def correlation_of(contrasts: Sequence[Contrast]) -> float:
    """The mean correlation of two comparisons with the baseline."""
    if len(contrasts) < 2:
        return 0.0
    roots = [sqrt(each.base_share) for each in contrasts]
    count = len(roots)
    squares = sum(root * root for root in roots)
    return (sum(roots) ** 2 - squares) / (count * (count - 1))
