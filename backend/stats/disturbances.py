"""Trials that something other than the server disturbed, judged by the other trials of the run.

Generalised ESD (Rosner, Technometrics 1983) on the logs of one run: the trial furthest from the
mean is tested, then the next, up to a quarter of the trials. Where still more lie apart, that is
how the server behaves, and no trial is set aside.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import fsum, sqrt
from statistics import fmean

from backend.stats.student import t_quantile

# Fewer trials do not show what is usual.
LEAST_TRIALS_TO_JUDGE = 6
# At most this share of a run's trials counts as disturbed.
MOST_DISTURBED = 0.25
# Of the tests on honest samples, this share is wrong.
FALSE_SHARE = 0.01
# What is left of a variance by the rounding of numbers; logs of figures lie within ± 50.
_NOTHING = 1e-14


def disturbed_trials(logs: Sequence[float]) -> tuple[int, ...] | None:
    """The indices of the disturbed trials of one run, in order; None where too many lie apart."""
    most = int(len(logs) * MOST_DISTURBED)
    if len(logs) < LEAST_TRIALS_TO_JUDGE or not most:
        return ()
    taken, count = [], 0
    for place, (index, distance) in enumerate(_extremes(logs, most + 1), start=1):
        taken.append(index)
        if distance > _critical_distance(len(logs) - place + 1):
            count = place
    # One more than may be set aside was tested, to see whether more lie apart.
    return None if count > most else tuple(sorted(taken[:count]))


def _extremes(values: Sequence[float], most: int) -> Iterator[tuple[int, float]]:
    """The index furthest from the mean of those that remain, and its distance, `most` times.

    Distances are in standard deviations of those that remain.
    """
    centre = fmean(values)
    order = sorted(range(len(values)), key=values.__getitem__)
    deviations = [values[index] - centre for index in order]
    total, squares = fsum(deviations), fsum(each * each for each in deviations)
    low, high = 0, len(values) - 1
    for _ in range(most):
        count = high - low + 1
        mean = total / count
        is_low = mean - deviations[low] > deviations[high] - mean
        end = low if is_low else high
        variance = (squares - total * mean) / (count - 1)
        distance = abs(deviations[end] - mean) / sqrt(variance) if variance > _NOTHING else 0.0
        yield order[end], distance
        total -= deviations[end]
        squares -= deviations[end] ** 2
        low, high = (low + 1, high) if is_low else (low, high - 1)


@lru_cache(maxsize=4096)
def _critical_distance(count: int) -> float:
    t = t_quantile(1 - FALSE_SHARE / (2 * count), count - 2)
    return (count - 1) * t / sqrt(count * (count - 2 + t * t))
