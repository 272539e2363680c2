from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.stats.replicates import Observation, Sample, estimate

logs = st.lists(st.floats(0, 10), min_size=3, max_size=8)


def sample_of(*runs, step=0.0):
    """The logs of each run's trials."""
    trials = [
        Observation(value, run, place)
        for run, values in enumerate(runs)
        for place, value in enumerate(values)
    ]
    return Sample(tuple(trials), step)


def test_one_run_is_its_mean_with_students_t():
    centre = estimate(sample_of([log(1000), log(1010), log(990)]))
    assert exp(centre.value) == pytest.approx(999.97, abs=0.01)
    assert (exp(centre.low), exp(centre.high)) == pytest.approx((975.4, 1025.1), abs=0.1)
    assert (centre.n, centre.runs, centre.scope) == (3, 1, "run")


def test_from_three_runs_on_the_run_is_what_repeats():
    """Means of runs: 1, 2 and 3; their standard error is 1/√3, and t(97.5 %, 2) = 4.303."""
    centre = estimate(sample_of([1.0] * 3, [1.9, 2.1], [3.0] * 20))
    assert centre.value == pytest.approx(2)
    assert centre.high - centre.value == pytest.approx(4.30265 / 3**0.5)
    assert (centre.n, centre.runs, centre.scope, centre.freedom) == (25, 3, "runs", 2)


def test_two_runs_speak_of_these_two():
    centre = estimate(sample_of([1.0, 1.1, 0.9], [5.0, 5.1, 4.9]))
    assert centre.scope == "these runs"
    assert centre.value == pytest.approx(3)
    assert centre.high - centre.low < 1


def test_two_trials_show_no_noise():
    centre = estimate(sample_of([1.0, 2.0]))
    assert (centre.value, centre.low, centre.high) == (1.5, None, None)


def test_no_trial_has_no_centre():
    with pytest.raises(ValueError, match="without trials"):
        estimate(Sample(()))


@given(logs)
def test_the_interval_holds_the_centre_and_has_a_width(values):
    centre = estimate(sample_of(values))
    assert centre.low < centre.value < centre.high


@given(logs, st.floats(-5, 5))
def test_the_unit_of_the_figure_does_not_matter(values, unit):
    before, after = estimate(sample_of(values)), estimate(sample_of([v + unit for v in values]))
    assert after.value == pytest.approx(before.value + unit, abs=1e-9)
    assert after.high - after.low == pytest.approx(before.high - before.low, rel=1e-6, abs=1e-9)


def test_trials_rounded_to_the_same_figure_are_half_a_step_wide_at_least():
    step = log(10.5 / 10)
    centre = estimate(sample_of([log(10)] * 5, step=step))
    assert centre.high - centre.value == pytest.approx(step)


def test_three_trials_rounded_to_the_same_figure_are_two_thirds_of_a_step_wide():
    """Three of three are often rounded to the further side, four rarely."""
    half_step = log(10.5 / 10)
    alike = [log(10)] * 3
    one_run, three_runs = (
        sample_of(alike, step=half_step),
        sample_of(alike, alike, alike, step=half_step),
    )
    for centre in (estimate(one_run), estimate(three_runs)):
        assert centre.high - centre.value == pytest.approx(half_step * 4 / 3)
    centre = estimate(sample_of([log(10)] * 4, step=half_step))
    assert centre.high - centre.value == pytest.approx(half_step)


def test_noise_larger_than_the_step_averages_the_rounding_out():
    values = np.random.default_rng(1).normal(0, 0.1, 10).tolist()
    exact, rounded = estimate(sample_of(values)), estimate(sample_of(values, step=0.02))
    assert rounded.high == pytest.approx(exact.high, rel=1e-3)


@pytest.mark.parametrize("count", [6, 10, 30])
def test_a_trial_far_from_the_others_counts(count):
    values = [0.01, -0.01, 0.0, 0.02, -0.02, *[0.0] * (count - 6), -0.5]
    centre = estimate(sample_of(values))
    assert centre.n == centre.freedom + 1 == count
    assert centre.value == pytest.approx(-0.5 / count)
    assert centre.variance == pytest.approx(np.var(values, ddof=1) / count)


def coverage(runs, *, effect, noise=0.03, pages=1500):
    """The share of intervals that hold the true centre, 0."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(pages):
        effects = rng.normal(0, effect, len(runs))
        centre = estimate(
            sample_of(
                *(
                    (own + rng.normal(0, noise, n)).tolist()
                    for own, n in zip(effects, runs, strict=True)
                )
            )
        )
        held += centre.low <= 0 <= centre.high
    return held / pages


@pytest.mark.parametrize(
    ("runs", "effect"),
    [((5,), 0.0), ((10,), 0.0), ((5, 5), 0.0), ((5, 5, 5), 0.03), ((3, 2, 5, 20), 0.03)],
)
def test_intervals_cover_what_they_are_named_for(runs, effect):
    assert 0.93 <= coverage(runs, effect=effect) <= 0.975


def of_starts(*starts, run="a", rounds=True):
    """The logs of each start's trials, in one run."""
    numbered = [(start, value) for start, values in enumerate(starts, 1) for value in values]
    return tuple(
        Observation(value, run, place if rounds else None, start)
        for place, (start, value) in enumerate(numbered)
    )


def test_where_trials_share_starts_the_start_is_what_repeats():
    """Means of starts: 1, 2 and 3, as in three runs of this many trials."""
    units = Sample(of_starts([0.9, 1.1], [1.9, 2.1], [3.0, 3.0])).units
    centre = estimate(Sample(of_starts([0.9, 1.1], [1.9, 2.1], [3.0, 3.0])))
    assert (units.unit, units.starts, units.covers_starts) == ("start", 3, True)
    assert centre.value == pytest.approx(2)
    assert centre.high - centre.value == pytest.approx(4.30265 / 3**0.5)
    assert (centre.n, centre.scope, centre.freedom) == (6, "run", 2)


def test_a_start_with_more_trials_counts_more_and_the_centre_is_that_of_the_trials():
    """Means of starts 1, 2 and 4 of 1, 1 and 2 trials: 2.75, and ¾ · (−1.75), … from it."""
    units = Sample(of_starts([1.0], [2.0], [3.9, 4.1])).units
    assert units.centre == pytest.approx(2.75)
    assert units.distances == pytest.approx([0.75 * -1.75, 0.75 * -0.75, 1.5 * 1.25])
    assert sum(units.distances) == pytest.approx(0)


def test_a_start_for_each_trial_changes_no_figure():
    values = [1.0, 1.2, 0.9, 1.1]
    own, unknown = Sample(of_starts(*([value] for value in values))), sample_of(values)
    assert estimate(own) == estimate(unknown)
    assert own.units.covers_starts
    assert not unknown.units.covers_starts


@pytest.mark.parametrize(
    ("starts", "count"),
    [
        ([[1.0, 1.1, 0.9]], 1),
        # A level shift after a restart.
        ([[1.0, 1.1], [2.0, 2.1]], 2),
    ],
)
def test_fewer_than_three_starts_do_not_show_how_starts_differ(starts, count):
    units = Sample(of_starts(*starts)).units
    assert (units.unit, units.starts, units.covers_starts) == ("trial", count, False)


def test_one_unknown_start_leaves_all_unknown():
    trials = (*of_starts([1.0], [1.1], [0.9]), Observation(1.0, "a", 9))
    units = Sample(trials).units
    assert (units.unit, units.starts, units.covers_starts) == ("trial", None, False)


def test_starts_of_two_runs_have_the_numbers_of_their_run():
    """Two starts in each of two runs have two degrees of freedom, as three starts of one run."""
    runs = [of_starts([1.0, 1.1], [0.9, 1.0], run=run) for run in "ab"]
    units = Sample((*runs[0], *runs[1])).units
    assert (units.unit, units.starts, units.freedom) == ("start", 4, 2)
    assert units.weight == pytest.approx(1 / 4)
    assert not Sample((*runs[0], *of_starts([1.0, 1.1], run="b"))).units.covers_starts


def test_three_runs_are_three_starts():
    units = sample_of([1.0], [1.1], [0.9]).units
    assert (units.unit, units.starts, units.covers_starts) == ("run", None, True)


def test_starts_are_paired_by_their_rounds():
    units = Sample(of_starts([1.0, 1.2], [0.9, 1.1], [1.0, 1.0])).units
    keys = {("a", frozenset(rounds)) for rounds in ((0, 1), (2, 3), (4, 5))}
    assert set(units.deviations) == keys
    assert Sample(of_starts([1.0, 1.2], [0.9], [1.0], rounds=False)).units.deviations is None
