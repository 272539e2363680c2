"""How many repeats an interval of a given width needs: Stein's two stages. Pure.

The first repeats say how much the values differ, and fix the total once. Looking after every
repeat, and stopping at the first narrow interval, stops where the values agree by chance: such
intervals cover the true value less often than they say. C. Stein, "A two-sample test for a linear
hypothesis whose power is independent of the variance", Annals of Mathematical Statistics 16 (1945).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

# Below seven, the spread of the first repeats is itself too uncertain: with five, the final
# intervals cover 92 % in place of 95 %, and noisy servers need more repeats in total.
FIRST_REPEATS = 7
# Fewer trials show no useful spread. The service has the same rule; a test compares the two.
LEAST_TRIALS = 3

# Two-sided 95 % quantiles of Student's t by degrees of freedom; NIST/SEMATECH e-Handbook 1.3.6.7.2.
T_95 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


def t_95(degrees: int) -> float:
    """The 97.5 % quantile of Student's t; beyond the table its last value, slightly too large."""
    return T_95[degrees - 1] if degrees <= len(T_95) else T_95[-1]


def repeats_needed(values: Sequence[float], interval: float) -> int:
    """Repeats after which the 95 % interval of the mean is within ± `interval`, a share of it.

    Computed on the logs of the first stage's `values`, as the service compares; at least their
    number. 0 where fewer than `LEAST_TRIALS` values are above 0: they do not show their spread.
    """
    logs = [math.log(value) for value in values if value > 0]
    if len(logs) < LEAST_TRIALS:
        return 0
    mean = sum(logs) / len(logs)
    variance = sum((each - mean) ** 2 for each in logs) / (len(logs) - 1)
    half_width = math.log1p(interval)
    needed = math.ceil(variance * (t_95(len(logs) - 1) / half_width) ** 2)
    return max(needed, len(values))
