from math import inf, pi

import numpy as np
import pytest

from backend.stats.noise import (
    IMPLAUSIBLE,
    LEAST_TO_MODERATE,
    chance_of_spread,
    chi_square_tail,
    digamma,
    f_tail,
    inverse_trigamma,
    moderate,
    prior_freedom,
    trigamma,
)

EULER = 0.5772156649015329


def test_gamma_functions_have_their_known_values():
    assert digamma(1) == pytest.approx(-EULER, abs=1e-9)
    assert digamma(0.5) == pytest.approx(-EULER - 2 * np.log(2), abs=1e-9)
    assert trigamma(1) == pytest.approx(pi**2 / 6, abs=1e-9)
    assert trigamma(0.5) == pytest.approx(pi**2 / 2, abs=1e-9)
    assert inverse_trigamma(pi**2 / 6) == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize(("ratio", "above", "below"), [(3.4780, 4, 10), (6.3882, 4, 4)])
def test_the_tail_of_f_agrees_with_the_printed_table(ratio, above, below):
    assert f_tail(ratio, above, below) == pytest.approx(0.05, abs=1e-4)


@pytest.mark.parametrize("above", [1, 1.5, 4, 200])
@pytest.mark.parametrize("below", [1, 2, 30, 1e6])
def test_a_variance_that_is_not_above_the_others_is_plausible_without_a_test(above, below):
    """`moderate` asks for no chance there: among three, a third of `IMPLAUSIBLE` is enough."""
    assert f_tail(1, above, below) > 0.3 > IMPLAUSIBLE / LEAST_TO_MODERATE


def test_equal_variances_are_one():
    moderated = moderate([(4.0, 4.0)] * 6)
    assert moderated == [(pytest.approx(4.0), 24.0)] * 6


def test_unlike_variances_stay_apart():
    variances = [(10.0**power, 20.0) for power in range(-4, 4)]
    for (own, _), (moderated, freedom) in zip(variances, moderate(variances), strict=True):
        assert moderated == pytest.approx(own, rel=1.0) or own < 1
        assert freedom < 25


def test_one_wild_variance_keeps_its_own():
    variances = [(1.0, 4.0)] * 7 + [(400.0, 4.0)]
    *quiet, wild = moderate(variances)
    assert wild[0] == pytest.approx(400, rel=0.01)
    assert all(variance < 3 for variance, _ in quiet)


def test_two_variances_are_left_alone():
    assert moderate([(1.0, 4.0), (9.0, 4.0)]) == [(1.0, 4.0), (9.0, 4.0)]


@pytest.mark.parametrize(("value", "freedom"), [(3.841, 1), (11.070, 5), (54.572, 39)])
def test_the_tail_of_chi_square_agrees_with_the_printed_table(value, freedom):
    assert chi_square_tail(value, freedom) == pytest.approx(0.05, abs=0.003)
    assert chi_square_tail(0.0, freedom) > 0.9


@pytest.mark.parametrize("count", [3, 8, 40])
@pytest.mark.parametrize("freedom", [2, 4])
def test_equal_variances_are_rarely_said_to_be_unlike(count, freedom):
    rng = np.random.default_rng([count, freedom])
    draws = rng.chisquare(freedom, (2_000, count)) / freedom
    chances = np.array([chance_of_spread([(float(x), freedom) for x in draw]) for draw in draws])
    assert 0.01 < (chances < 0.02).mean() < 0.03
    assert 0.4 < (chances < 0.5).mean() < 0.6


@pytest.mark.parametrize("variance", [0.1, 1e-5 / 3, 7.7])
def test_equal_variances_do_not_spread(variance):
    assert chance_of_spread([(variance, 2.0)] * 7) > 0.9


def test_how_alike_variances_are():
    rng = np.random.default_rng(1)
    alike = [(float(rng.chisquare(9) / 9), 9.0) for _ in range(200)]
    assert prior_freedom(alike) > 40
    unlike = [
        (variance * float(np.exp(rng.normal(0, 1.5))), degrees) for variance, degrees in alike
    ]
    assert prior_freedom(unlike) < 5
    assert prior_freedom([(2.0, 4.0)] * 5) == inf
    assert prior_freedom([(0.0, 4.0)] * 5) == 0
