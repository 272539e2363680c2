from math import log

import numpy as np
import pytest

from backend.stats.comparison import Floor, against_baseline
from backend.stats.replicates import Observation, Sample
from backend.stats.sample_size import (
    MOST_ADVISED,
    least_difference,
    trials_needed,
    two_stage_size,
)


def sample(values, run="a"):
    return Sample(tuple(Observation(float(value), run) for value in values))


def compare(base, other):
    (comparison,) = against_baseline(base, [other])
    return comparison


def test_two_stages_by_hand():
    """s² = 0.0001, t(97.5 %, 2) = 4.303: 0.0001 · 18.51 ÷ 0.01² = 18.5, so 19 trials."""
    assert two_stage_size([0.0, 0.01, -0.01], 0.01) == 19
    assert two_stage_size([0.0, 0.01, -0.01], 1.0) == 3


@pytest.mark.parametrize(("values", "half_width"), [([0.0, 0.1], 0.01), ([0.0] * 3, 0.0)])
def test_two_stages_need_three_trials_and_a_width(values, half_width):
    with pytest.raises(ValueError, match="expected 3 or more"):
        two_stage_size(values, half_width)


def test_two_stages_keep_their_coverage():
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(2000):
        values = rng.normal(0, 0.03, 400)
        size = two_stage_size(values[:5].tolist(), 0.02)
        held += abs(values[:size].mean()) <= 0.02
    assert 0.935 <= held / 2000 <= 0.975


def test_noisier_trials_need_more():
    quiet = compare(sample([0, 0.01, -0.01]), sample([0.01, 0.02, 0.0]))
    noisy = compare(sample([0, 0.012, -0.012]), sample([0.01, 0.022, -0.002]))
    assert 1 <= trials_needed(quiet).more < trials_needed(noisy).more
    assert trials_needed(noisy).unit == "trial"


def test_what_the_host_cannot_tell_needs_more_than_trials():
    base, other = sample([0, 0.001, -0.001]), sample([0.001, 0.002, 0.0])
    (comparison,) = against_baseline(base, [other], floor=Floor(half_width=0.05))
    assert trials_needed(comparison).more is None


def test_runs_that_differ_need_runs():
    advice = trials_needed(compare(sample([0, 0.01, -0.01]), sample([0.01, 0.02, 0.0], run="b")))
    assert advice.unit == "run"
    assert advice.more is None or 2 <= advice.more <= MOST_ADVISED


def test_two_trials_have_no_advice():
    assert trials_needed(compare(sample([0, 0.01]), sample([0, 0.01]))) is None


def test_advice_leads_to_a_right_verdict_as_often_as_it_says():
    """True 5 %, CV 3 %, five trials; the advice is followed once."""
    rng = np.random.default_rng(3)
    decided = wrong = followed = 0
    for _ in range(300):
        base, other = rng.normal(0, 0.03, 1100), rng.normal(log(1.05), 0.03, 1100)
        first = compare(sample(base[:5]), sample(other[:5]))
        advice = trials_needed(first)
        if first.verdict in ("improved", "regressed", "unchanged") or advice.more is None:
            continue
        total = 5 + advice.more
        verdict = compare(sample(base[:total]), sample(other[:total])).verdict
        followed += 1
        decided += verdict in ("improved", "regressed", "unchanged")
        wrong += verdict in ("regressed", "unchanged")
    assert decided >= 0.6 * followed
    assert wrong <= 0.05 * followed


@pytest.mark.parametrize(("noise", "more"), [(0.01, 2), (0.02, None), (0.06, None)])
def test_more_trials_than_thirty_are_no_advice(noise, more):
    """60 and 222 more trials would decide the two that get no number."""
    base = sample([0, noise, -noise])
    assert trials_needed(compare(base, sample([0.001, 0.001 + noise, 0.001 - noise]))).more == more


def test_the_difference_that_would_have_been_found_by_hand():
    """Two sides of 3 trials, ± 1 %: an error of 0.816 %, t of 97.5 % and 95 % at 4 degrees."""
    (comparison,) = against_baseline(
        sample([0, 0.01, -0.01]), [sample([0.001, 0.011, -0.009], run="a")]
    )
    expected = (2.7764 + 2.1318) * 0.01 * (2 / 3) ** 0.5
    assert log(1 + least_difference(comparison.precision)) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("count", "pairs"), [(3, 800), (5, 500), (10, 300)])
def test_differences_as_large_as_named_are_found_in_four_of_five_cases(count, pairs):
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(pairs):
        first = compare(*(sample(rng.normal(0, 0.03, count)) for _ in "ab"))
        named = log(1 + least_difference(first.precision))
        base, other = rng.normal(0, 0.03, count), rng.normal(named, 0.03, count)
        found += compare(sample(base), sample(other)).significant
    # A standard error of 0.018 or less.
    assert 0.77 <= found / pairs <= 0.97


def of_runs(levels):
    return Sample(tuple(Observation(level, run) for run, level in levels.items() for _ in range(3)))


def build_beside(history_runs):
    """A build without a change beside runs that differ by 2 %."""
    history = of_runs({run: 0.02 * (-1) ** run for run in range(history_runs)})
    (row,) = against_baseline(history, [of_runs({"new": 0.0})], floor=Floor(is_one_history=True))
    return trials_needed(row, relevant=0.03)


def test_only_runs_of_a_build_are_to_come():
    few, many = build_beside(30), build_beside(60)
    assert few.unit == many.unit == "run"
    assert many.more < few.more


def test_no_number_of_runs_makes_up_for_a_history_that_is_too_short():
    assert build_beside(3).more is None
