from math import pi, sqrt, tan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.stats import median_interval, ratio, tiers
from backend.stats.student import incomplete_beta, t_quantile

trials = st.lists(st.floats(1, 1e6), min_size=3, max_size=8)
SWAPPED = {"improved": "regressed", "regressed": "improved"}


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.7062), (2, 4.30265), (4, 2.77645), (10, 2.22814), (100, 1.98397)],
)
def test_t_quantiles_agree_with_the_printed_table(freedom, expected):
    assert t_quantile(0.975, freedom) == pytest.approx(expected, rel=1e-5)


@given(trials)
def test_the_interval_holds_the_median(values):
    estimate = median_interval(values)
    assert estimate.low <= estimate.value <= estimate.high


def test_two_trials_have_no_interval():
    estimate = median_interval([10, 20])
    assert (estimate.value, estimate.low, estimate.high) == (15, None, None)


def test_no_trial_has_no_estimate():
    assert median_interval([]) is None


def test_zeros_have_an_interval_too():
    assert median_interval([0, 0, 0]).high == 0


@given(trials)
def test_a_thing_does_not_differ_from_itself(values):
    assert ratio(values, values).verdict in ("unchanged", "inconclusive")
    assert ratio(values, values).value == pytest.approx(1)


@given(trials, trials)
def test_swapping_negates(a, b):
    one, two = ratio(a, b), ratio(b, a)
    assert one.value == pytest.approx(1 / two.value)
    assert two.verdict == SWAPPED.get(one.verdict, one.verdict)


def test_a_clear_gain_is_improved_and_for_latency_regressed():
    base, other = [100, 101, 99], [150, 152, 149]
    assert ratio(base, other).verdict == "improved"
    assert ratio(base, other, better="lower").verdict == "regressed"


def test_a_significant_difference_below_the_threshold_is_unchanged():
    result = ratio([100, 100.01, 99.99], [101, 101.01, 100.99], relevant=0.02)
    assert (result.verdict, result.significant, result.relevant) == ("unchanged", True, False)


def test_noise_is_inconclusive_and_says_what_would_tell():
    result = ratio([100, 150, 80], [110, 90, 160])
    assert result.verdict == "inconclusive"
    assert "more trials would tell" in result.why


def test_fewer_than_three_trials_never_give_a_verdict():
    result = ratio([100, 101], [200, 201])
    assert result.verdict == "inconclusive"
    assert "1 more trial" in result.why


def test_an_unknown_base_gives_no_ratio():
    assert ratio([], [1.0]).value is None


def test_overlapping_intervals_share_a_rank_range():
    fast, near, slow = (median_interval(v) for v in ([99, 100, 101], [98, 100, 102], [49, 50, 51]))
    assert tiers([fast, near, slow]) == ["1–2", "1–2", "3"]


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
