"""Quantiles of Student's t, without scipy.

The distribution function is the regularised incomplete beta function by its continued fraction
(Abramowitz & Stegun 26.5.8, Lentz's evaluation); the quantile is found by bisection.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log

TINY = 1e-300
PRECISION = 1e-12


@lru_cache(maxsize=1024)
def t_quantile(probability: float, freedom: float) -> float:
    """The t with P(T ≤ t) = `probability` for `freedom` degrees; exact to about 1e-9."""
    if not 0.5 <= probability < 1 or freedom <= 0:
        raise ValueError(f"got p={probability}, df={freedom}; expected 0.5 ≤ p < 1 and df > 0")
    low, high = 0.0, 1.0
    while _cumulative(high, freedom) < probability:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if _cumulative(middle, freedom) < probability:
            low = middle
        else:
            high = middle
        if high - low <= PRECISION * high:
            break
    return (low + high) / 2


def _cumulative(t: float, freedom: float) -> float:
    tail = incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5)
    return 1 - tail / 2


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b) for 0 ≤ x ≤ 1."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x))
    # The fraction converges fast on one side of the mean only; the other is its mirror.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            step = c * d
            result *= step
        if abs(step - 1) < PRECISION:
            break
    return result


def _not_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
