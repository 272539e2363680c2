import re
from math import log, pi, sqrt, tan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.stats import holding, median_interval, ratio, tiers
from backend.stats.intervals import mean_ratio
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
    assert "more trials on each side would decide" in result.why


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


def trials_of(rng, true, noise, count):
    return (true * np.exp(rng.normal(0, noise, count))).tolist()


@pytest.mark.parametrize(("base", "other"), [(3, 3), (3, 10), (5, 5), (10, 10)])
def test_the_interval_of_a_ratio_holds_the_truth_in_95_of_100(base, other):
    rng = np.random.default_rng(11)
    held = 0
    for _ in range(1000):
        found = ratio(trials_of(rng, 1, 0.05, base), trials_of(rng, 1.1, 0.05, other))
        held += found.low <= 1.1 <= found.high
    assert 920 <= held <= 980


@pytest.mark.parametrize("count", [3, 5, 10])
def test_the_interval_of_a_point_holds_the_truth_in_95_of_100(count):
    rng = np.random.default_rng(12)
    estimates = [median_interval(trials_of(rng, 100, 0.05, count)) for _ in range(1000)]
    # Widened to hold the median, it is a little too wide for few trials, never too narrow.
    assert 935 <= sum(one.low <= 100 <= one.high for one in estimates) <= 985


@pytest.mark.parametrize("true", [1, 1.01, 1.02, 1.05])
def test_as_many_more_trials_as_it_says_mostly_tell(true):
    rng = np.random.default_rng(13)
    asked = told = 0
    for _ in range(300):
        base, other = trials_of(rng, 1, 0.02, 5), trials_of(rng, true, 0.02, 5)
        first = ratio(base, other)
        if first.verdict == "inconclusive":
            more = int(re.search(r"(\d+) more trial", first.why)[1])
            asked += 1
            base += trials_of(rng, 1, 0.02, more)
            other += trials_of(rng, true, 0.02, more)
            told += ratio(base, other).verdict != "inconclusive"
    assert told >= 0.7 * asked > 0


def test_noise_beyond_any_number_of_trials_says_so():
    noisy = ratio([1, 100, 1e4], [1e4, 100, 1])
    assert "over 999 more trials on each side would decide" in noisy.why


@given(trials, trials)
def test_the_mean_of_one_ratio_is_that_ratio(a, b):
    one, mean = ratio(a, b), mean_ratio([(a, b)])
    assert (mean.value, mean.low, mean.high, mean.verdict) == pytest.approx(
        (one.value, one.low, one.high, one.verdict)
    )


@given(st.lists(st.tuples(trials, trials), min_size=1, max_size=4))
def test_the_mean_ratio_is_the_geometric_mean_and_turns_with_the_baseline(pairs):
    mean = mean_ratio(pairs)
    logs = [log(ratio(a, b).value) for a, b in pairs]
    assert log(mean.value) == pytest.approx(sum(logs) / len(logs), abs=1e-9)
    turned = mean_ratio([(b, a) for a, b in pairs])
    assert turned.value == pytest.approx(1 / mean.value)
    assert turned.low == pytest.approx(1 / mean.high)


def test_a_mean_over_few_trials_or_an_unknown_value_has_no_interval():
    good = ([100, 101, 99], [150, 152, 149])
    few = mean_ratio([good, ([100, 101], [150, 152])])
    assert (few.low, few.verdict) == (None, "inconclusive")
    assert few.value == pytest.approx(1.5, rel=0.01)
    assert mean_ratio([good, ([], [1.0])]).value is None
    assert mean_ratio([]).value is None


def test_the_interval_of_a_mean_holds_the_truth_in_95_of_100():
    rng = np.random.default_rng(14)
    held = 0
    for _ in range(500):
        pairs = [
            (trials_of(rng, 100, noise, 3), trials_of(rng, 110, noise, 5))
            for noise in (0.01, 0.03, 0.1)
        ]
        found = mean_ratio(pairs)
        held += found.low <= 1.1 <= found.high
    assert 460 <= held <= 490


def test_a_ratio_is_widened_to_hold_that_of_the_figures_shown():
    near, far = [1, 1.01, 0.99], [3, 3.03, 2.97]
    found = ratio(near, far, better="lower")
    wide = {"better": "lower", "relevant": 0.02}
    assert holding(found, 3.001, **wide) == found
    clear = holding(found, 2.0, **wide)
    assert (clear.verdict, clear.low, clear.value) == ("regressed", 2.0, found.value)
    # One trial is so unlike the others that all requests together say the opposite.
    opposed = holding(found, 0.1, **wide)
    assert (opposed.verdict, opposed.low) == ("inconclusive", pytest.approx(0.1))
    assert "all requests together are at 0.1×" in opposed.why
    assert not opposed.significant


def test_without_an_interval_the_ratio_is_that_of_the_figures_shown():
    found = ratio([1, 9], [9, 9.02], better="lower")
    assert holding(found, 9.01 / 2.2, better="lower", relevant=0.02).value == 9.01 / 2.2


def test_an_open_question_stays_one_however_wide():
    found = ratio([100, 150, 80], [110, 90, 160])
    wider = holding(found, 9.0, better="higher", relevant=0.02)
    assert (wider.verdict, wider.why, wider.high) == ("inconclusive", found.why, pytest.approx(9))
