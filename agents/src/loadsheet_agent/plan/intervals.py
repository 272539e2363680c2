"""How well repeats agree: the 95 % interval of their mean, as a share of it. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Two-sided 95 % quantiles of Student's t by degrees of freedom; NIST/SEMATECH e-Handbook 1.3.6.7.2.
T_95 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


def t_95(degrees: int) -> float:
    """The 97.5 % quantile of Student's t; beyond the table its last value, slightly too large."""
    return T_95[degrees - 1] if degrees <= len(T_95) else T_95[-1]


def interval_share(values: Sequence[float]) -> float | None:
    """Upper half of the 95 % interval of the geometric mean, as a share of the mean.

    Computed on the logs, as the service compares. None for fewer than three values, or where a
    value is not above 0.
    """
    if len(values) < 3 or min(values) <= 0:
        return None
    logs = [math.log(value) for value in values]
    mean = sum(logs) / len(logs)
    variance = sum((each - mean) ** 2 for each in logs) / (len(logs) - 1)
    return math.exp(t_95(len(logs) - 1) * math.sqrt(variance / len(logs))) - 1
