"""Pure statistics: histogram, percentiles, intervals, verdicts. No Django."""

from backend.stats.histogram import Histogram
from backend.stats.ratio import Better, Ratio, Verdict

__all__ = ["Better", "Histogram", "Ratio", "Verdict"]
