"""The centre of the trials of one run at one load: the figure that stands for them everywhere.

Comparisons estimate the same centre with an interval (stats/replicates.py).
"""

from collections.abc import Sequence
from math import exp, log
from statistics import median

from backend.stats.replicates import Observation, Sample, estimate


def figure_of(centre: float) -> float:
    """The figure whose logarithm is `centre`."""
    # Fourteen digits: beyond them the logarithm has rounded.
    return float(f"{exp(centre):.14g}")


def centre_of_run(figures: Sequence[float]) -> float | None:
    """The centre of the figures of trials of one run at one load; None without figures.

    The geometric mean of the trials that were not disturbed. A figure of 0 has no logarithm: then
    it is the median.
    """
    if not figures:
        return None
    if min(figures) <= 0:
        return median(figures)
    return figure_of(estimate(Sample(tuple(Observation(log(x), 0) for x in figures))).value)
