"""One figure ÷ another, and what may be said of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from backend.stats.design import SOUND, Design

# improved, regressed: the interval clears the threshold · unchanged: it lies within the threshold ·
# size_uncertain: it excludes 1×, and neither · inconclusive: it includes 1×, or there is none
Verdict = Literal["improved", "regressed", "unchanged", "size_uncertain", "inconclusive"]
Better = Literal["higher", "lower"]

# Why a difference beyond noise and threshold is no verdict: it is one if this holds.
IF_BASELINE_IS_STEADY = "beyond noise and threshold if the baseline is as steady as the others"

_INVERSE: dict[Verdict, Verdict] = {"improved": "regressed", "regressed": "improved"}


def inverse_verdict(verdict: Verdict) -> Verdict:
    """The verdict on base ÷ other."""
    return _INVERSE.get(verdict, verdict)


@dataclass(frozen=True, slots=True)
class Ratio:
    """other ÷ base of two centres, its 95 % interval and the verdict; None where unknown.

    `significant`: the interval excludes 1×. `relevant`: the value is beyond the threshold. `scope`:
    which runs the interval covers, as words. `advice`: what would decide an open ratio, as words.
    `more`: how many more trials, starts or runs of each side the advice names, and one above
    `MOST_ADVISED` where it says that those are not enough; 0 where it names none.
    `lack`: what so few trials do not show, as words; None where their number is not the cause.
    `is_within_runs`: whether the interval covers the measured runs alone. `design`: what it does
    not allow for.
    `finds_from`: from which share on a difference would have been found, where none was.
    """

    value: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    why: str
    significant: bool
    relevant: bool
    scope: str | None = None
    advice: str | None = None
    more: int = 0
    lack: str | None = None
    is_within_runs: bool = False
    design: Design = SOUND
    finds_from: float | None = None

    def inverse(self) -> Ratio:
        """base ÷ other; unknown where a bound is 0."""
        return replace(
            self,
            value=_reciprocal(self.value),
            low=_reciprocal(self.high),
            high=_reciprocal(self.low),
            verdict=inverse_verdict(self.verdict),
        )


def _reciprocal(value: float | None) -> float | None:
    return 1 / value if value else None
