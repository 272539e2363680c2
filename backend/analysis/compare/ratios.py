"""The ratio of one series to another, as the ranking and the table of ratios say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.stats import Better, Ratio, holding, ratio

# The baseline against itself: ×1 without noise.
BASELINE_ITSELF = Ratio(
    1.0, 1.0, 1.0, "unchanged", "the baseline", significant=False, relevant=False
)


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What a ratio is held against. `relevant`: a smaller share of difference does not matter."""

    better: Better
    relevant: float

    def ratio(
        self, base: Sequence[float], other: Sequence[float], *, of_figures: float | None = None
    ) -> Ratio:
        """`other` ÷ `base` from the values of their trials.

        `of_figures`: the ratio of the figures shown, where these are no medians of the trials
        (latencies of all requests together); the interval is widened to hold it.
        """
        of_trials = ratio(base, other, better=self.better, relevant=self.relevant)
        if of_figures is None:
            return of_trials
        return holding(of_trials, of_figures, better=self.better, relevant=self.relevant)


def no_ratio(why: str) -> Ratio:
    """A ratio that is unknown, and why."""
    return Ratio(None, None, None, "inconclusive", why, significant=False, relevant=False)
