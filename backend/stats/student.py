"""Quantiles of Student's t, without scipy.

The distribution function is the regularised incomplete beta function by its continued fraction
(Abramowitz & Stegun 26.5.8, Lentz's evaluation); the quantile is found by Newton's method on the
logarithms of t and of its tail, where the curve is nearly a line.
"""

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, pi
from statistics import NormalDist

TINY = 1e-300
PRECISION = 1e-12
# From so many degrees on, two terms beside the normal quantile are exact to 1e-12; the terms of
# the continued fraction cancel, and above 1e15 it fails.
_MANY = 1e5


@lru_cache(maxsize=1024)
def t_quantile(probability: float, freedom: float) -> float:
    """The t with P(T ≤ t) = `probability` for `freedom` degrees; exact to about 1e-9.

    `freedom`: inf for a variance that is known, where t is normal.
    """
    if not 0.5 <= probability < 1 or freedom <= 0:
        raise ValueError(f"got p={probability}, df={freedom}; expected 0.5 ≤ p < 1 and df > 0")
    if probability == 0.5:
        return 0.0
    if freedom == inf:
        return NormalDist().inv_cdf(probability)
    t = _near(NormalDist().inv_cdf(probability), freedom)
    if freedom > _MANY:
        return t
    # The curve is concave: after the first step, each step comes closer and none overshoots.
    for _ in range(100):
        tail = _tail(t, freedom)
        step = log(tail / (1 - probability)) * tail / (t * _density(t, freedom))
        t *= exp(step)
        # The error of the next step is about the square of this step.
        if abs(step) < 1e-7:
            break
    return t


def _near(z: float, freedom: float) -> float:
    """About the t of a normal quantile (Abramowitz & Stegun 26.7.5, two terms)."""
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def _tail(t: float, freedom: float) -> float:
    """P(T > t)."""
    return incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2


def _density(t: float, freedom: float) -> float:
    scale = lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - log(freedom * pi) / 2
    return exp(scale - (freedom + 1) / 2 * log1p(t * t / freedom))


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
            # `_not_zero` in place: a page of many series asks for thousands of terms.
            below, above = 1 + term * d, 1 + term / c
            d = 1 / (below if abs(below) > TINY else TINY)
            c = above if abs(above) > TINY else TINY
            step = c * d
            result *= step
        if abs(step - 1) < PRECISION:
            break
    return result


def _not_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
