"""The difference of two series before it is judged: its value, its noise and its degrees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, sqrt

from msgspec import Struct
from msgspec.structs import replace

from backend.stats.noise import Noise
from backend.stats.replicates import Units

# Of the largest |t| of a family, by the degrees of freedom of one of its comparisons.
Quantile = Callable[[float], float]


class Contrast(Struct, frozen=True, gc=False):
    """A difference of two centres and its noise, before the family's quantile.

    `parts`: of the variance, those of the first and the second series first. `rounding`: what
    rounding adds to the half width.
    """

    value: float
    parts: Sequence[Noise]
    variance: float
    rounding: float
    run_sd: float | None

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
        """With the noise that the first series' trials alone show; None where it has that noise."""
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
        run_sd=sqrt(between),
    )
