"""Trials that something other than the server disturbed, told from the other trials of their run.

Generalised ESD (Rosner, Technometrics 1983) on the logs of one run: the trial furthest from the
mean is tested, then the next, up to a quarter of the trials. Where still more lie apart, that is
how the server behaves, and no trial is set aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from statistics import fmean

from backend.stats.student import t_quantile

# Fewer trials do not show what is usual.
LEAST_TRIALS_TO_JUDGE = 6
# At most this share of a run's trials counts as disturbed.
MOST_DISTURBED = 0.25
# Of the tests on honest samples, this share is wrong.
FALSE_SHARE = 0.01


def disturbed_trials(logs: Sequence[float]) -> tuple[int, ...] | None:
    """The indices of the disturbed trials of one run, in order; None where too many lie apart."""
    most = int(len(logs) * MOST_DISTURBED)
    if len(logs) < LEAST_TRIALS_TO_JUDGE or not most:
        return ()
    kept = list(range(len(logs)))
    taken: list[int] = []
    count = 0
    # One more than may be set aside, to see whether more lie apart.
    for _ in range(most + 1):
        furthest, distance = _furthest([logs[index] for index in kept])
        is_apart = distance > _critical_distance(len(kept))
        taken.append(kept.pop(furthest))
        if is_apart:
            count = len(taken)
    if count > most:
        return None
    return tuple(sorted(taken[:count]))


def _furthest(values: Sequence[float]) -> tuple[int, float]:
    """The index furthest from the mean, and its distance in standard deviations."""
    mean = fmean(values)
    deviations = [abs(value - mean) for value in values]
    squares = sum(deviation * deviation for deviation in deviations)
    if squares == 0:
        return 0, 0.0
    index = max(range(len(values)), key=deviations.__getitem__)
    return index, deviations[index] / sqrt(squares / (len(values) - 1))


@lru_cache(maxsize=256)
def _critical_distance(count: int) -> float:
    t = t_quantile(1 - FALSE_SHARE / (2 * count), count - 2)
    return (count - 1) * t / sqrt(count * (count - 2 + t * t))
