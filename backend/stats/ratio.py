"""One figure ÷ another, and what may be said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# improved, regressed: the interval clears the threshold · unchanged: it lies within the threshold ·
# size_uncertain: it excludes ×1, and neither · inconclusive: it includes ×1, or there is none
Verdict = Literal["improved", "regressed", "unchanged", "size_uncertain", "inconclusive"]
Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Ratio:
    """other ÷ base of two centres, its 95 % interval and the verdict; None where unknown.

    `significant`: the interval excludes ×1. `relevant`: the value is beyond the threshold. `scope`:
    which runs the interval covers, as words.
    """

    value: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    why: str
    significant: bool
    relevant: bool
    scope: str | None = None
