"""Quantiles of Student's t and the incomplete beta function, against what is known exactly."""

from math import inf, pi, sqrt, tan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.stats.student import incomplete_beta, t_quantile


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.7062), (2, 4.30265), (4, 2.77645), (10, 2.22814), (100, 1.98397), (inf, 1.95996)],
)
def test_t_quantiles_agree_with_the_printed_table(freedom, expected):
    assert t_quantile(0.975, freedom) == pytest.approx(expected, rel=1e-5)


@given(st.floats(0.5001, 0.9999))
def test_t_quantiles_of_one_and_two_degrees_have_closed_forms(p):
    assert t_quantile(p, 1) == pytest.approx(tan(pi * (p - 0.5)), rel=1e-6)
    assert t_quantile(p, 2) == pytest.approx((2 * p - 1) / sqrt(2 * p * (1 - p)), rel=1e-6)


@given(st.floats(0.9, 0.999999), st.floats(1, 500))
def test_t_quantiles_have_their_probability(p, freedom):
    t = t_quantile(p, freedom)
    tail = incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    assert tail == pytest.approx(1 - p, rel=1e-9)


def test_the_middle_of_t_is_zero():
    assert t_quantile(0.5, 7) == 0


@pytest.mark.parametrize("freedom", [1e5, 1.01e5, 1e9, 1e14, 1e16, 1e40])
def test_t_quantiles_of_very_many_degrees_are_nearly_normal(freedom):
    normal = t_quantile(0.975, inf)
    assert t_quantile(0.975, freedom) == pytest.approx(normal + 2.3723 / freedom, abs=1e-8)
