"""Pure statistics: histogram, percentiles, intervals, verdicts. No Django."""

from backend.stats.histogram import Histogram
from backend.stats.intervals import (
    Better,
    Estimate,
    Ratio,
    Verdict,
    holding,
    median_interval,
    ratio,
    tiers,
)

__all__ = [
    "Better",
    "Estimate",
    "Histogram",
    "Ratio",
    "Verdict",
    "holding",
    "median_interval",
    "ratio",
    "tiers",
]
