from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.stats.simultaneous import (
    _within_baseline,
    prepare_quantiles,
    quantile_against_baseline,
    quantile_of_all_pairs,
)
from backend.stats.student import t_quantile


@pytest.mark.parametrize(
    ("count", "freedom", "expected"),
    [(3, 2, 8.331), (3, 10, 3.877), (5, 20, 4.232), (10, 10, 5.599), (20, 30, 5.475)],
)
def test_quantiles_of_all_pairs_are_those_of_tukeys_table(count, freedom, expected):
    quantile = quantile_of_all_pairs(count, freedom, 0.95)
    assert quantile * sqrt(2) == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize(
    ("count", "freedom", "expected"),
    [(2, 5, 3.03), (2, 10, 2.57), (7, 20, 2.86), (9, 60, 2.77), (7, inf, 2.61)],
)
def test_quantiles_against_a_baseline_are_those_of_dunnetts_table(count, freedom, expected):
    quantile = quantile_against_baseline(count, freedom, 0.5, 0.95)
    assert quantile == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("correlation", [-0.2, 0, 0.37, 0.5, 0.95, 1])
def test_no_quantile_computes_what_was_prepared(correlation):
    prepare_quantiles()
    prepared = _within_baseline.cache_info().misses
    quantile_against_baseline(6, 11.0, correlation, 0.97)
    assert _within_baseline.cache_info().misses == prepared


def test_one_comparison_is_students_t():
    expected = t_quantile(0.975, 7.3)
    assert quantile_against_baseline(1, 7.3, 0.5, 0.95) == expected
    assert quantile_of_all_pairs(2, 7.3, 0.95) == expected


@pytest.mark.parametrize("freedom", [2.2, 4.5, 9.0, 17.0, 45.0])
def test_degrees_between_the_tabled_ones_hold_their_share(freedom):
    """The share of simulated pages whose largest |t| lies within the quantile."""
    rng = np.random.default_rng(4)
    means = rng.normal(size=(200_000, 5))
    spread = np.sqrt(rng.chisquare(freedom, 200_000) / freedom)
    largest = (means.max(1) - means.min(1)) / sqrt(2) / spread
    within = (largest <= quantile_of_all_pairs(5, freedom, 0.95)).mean()
    assert 0.948 <= within <= 0.953


@given(st.integers(2, 40), st.floats(1, 200), st.floats(0, 0.9))
def test_more_comparisons_and_fewer_degrees_are_wider(count, freedom, correlation):
    quantile = quantile_against_baseline(count, freedom, correlation, 0.95)
    assert quantile <= quantile_against_baseline(count + 1, freedom, correlation, 0.95)
    assert quantile <= quantile_against_baseline(count, freedom / 1.5, correlation, 0.95) * 1.001
    assert t_quantile(0.975, freedom) <= quantile * 1.001
    assert quantile <= t_quantile(1 - 0.025 / count, freedom) * 1.003
