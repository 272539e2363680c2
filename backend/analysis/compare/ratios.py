"""The ratio of one series to another, as the ranking and the table of ratios give it."""

from __future__ import annotations

from backend.stats import Ratio

# The baseline against itself: ×1 without noise.
BASELINE_ITSELF = Ratio(
    1.0, 1.0, 1.0, "unchanged", "the baseline", significant=False, relevant=False
)


def no_ratio(why: str) -> Ratio:
    """A ratio that is unknown, and why."""
    return Ratio(None, None, None, "inconclusive", why, significant=False, relevant=False)
