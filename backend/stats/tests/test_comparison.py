from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.stats.best import rank_sets
from backend.stats.comparison import Floor, Page, Rule, against_baseline
from backend.stats.contrast import sharpen
from backend.stats.ratio import IF_BASELINE_IS_STEADY
from backend.stats.replicates import Observation, Sample, estimate
from backend.stats.student import t_quantile

ASSUMED = sharpen(0.0, 0, "assumed")
SWAPPED = {"improved": "regressed", "regressed": "improved"}
logs = st.lists(st.floats(0, 1), min_size=3, max_size=8)


def one_run(values, *, run="a", step=0.0, rounds=True):
    trials = [
        Observation(float(value), run, place if rounds else None)
        for place, value in enumerate(values)
    ]
    return Sample(tuple(trials), step)


def several_runs(runs):
    """{run: the logs of its trials}"""
    return Sample(tuple(Observation(float(v), run) for run, each in runs.items() for v in each))


def compare(base, other, **options):
    (comparison,) = against_baseline(base, [other], **options)
    return comparison


def test_by_hand():
    """1000, 1010, 990 against 1620, 1600, 1640 requests/s: Welch's t on the logs."""
    base = one_run(map(log, (1000, 1010, 990)), rounds=False)
    other = one_run(map(log, (1620, 1600, 1640)), rounds=False)
    comparison = compare(base, other)
    assert exp(comparison.value) == pytest.approx(1.62, abs=0.001)
    assert (exp(comparison.low), exp(comparison.high)) == pytest.approx((1.5785, 1.6625), abs=0.001)
    assert (comparison.verdict, comparison.scope) == ("improved", "run")
    assert compare(base, other, rule=Rule("lower")).verdict == "regressed"


@given(logs, logs)
def test_the_ratio_is_that_of_the_centres(base, other):
    first, second = one_run(base), one_run(other)
    expected = estimate(second).value - estimate(first).value
    assert compare(first, second).value == pytest.approx(expected)


@given(logs, logs)
def test_swapping_negates(base, other):
    one = compare(one_run(base), one_run(other))
    two = compare(one_run(other), one_run(base))
    assert (one.low, one.high) == pytest.approx((-two.high, -two.low))
    assert two.verdict == SWAPPED.get(one.verdict, one.verdict)


@pytest.mark.parametrize(
    ("difference", "verdict"),
    [(0.1, "improved"), (-0.1, "regressed"), (0.0, "unchanged"), (0.025, "size_uncertain")],
)
def test_a_verdict_needs_the_whole_interval(difference, verdict):
    noise = np.array([-0.004, 0.004, 0.002, -0.002, 0.0]) * 2
    comparison = compare(one_run(noise), one_run(noise[::-1] + difference))
    assert comparison.verdict == verdict


def test_noise_makes_it_inconclusive():
    comparison = compare(one_run([0, 0.1, -0.1]), one_run([0.16, -0.05, 0.06]))
    assert (comparison.verdict, comparison.significant) == ("inconclusive", False)


def test_too_few_trials_have_no_interval():
    comparison = compare(one_run([0.0, 0.1]), one_run([1.0, 1.1, 1.2]))
    assert (comparison.low, comparison.verdict) == (None, "inconclusive")
    assert comparison.why == "an interval needs at least 3 trials of each, and one has 2"


@pytest.mark.parametrize(
    ("trials", "why"),
    [
        (1, "one trial each gives no interval, so measure at least 2 more of each"),
        (2, "an interval needs at least 1 more trial of each"),
    ],
)
def test_what_an_interval_needs_is_said_of_each_series(trials, why):
    levels = [0.0, 0.1][:trials]
    assert compare(one_run(levels), one_run(levels)).why == why


def test_rounded_figures_are_never_certain_to_less_than_their_steps():
    step = log(1.05)
    base, other = one_run([0.0] * 5, step=step), one_run([0.09] * 5, step=step)
    assert not compare(base, other).significant


def test_a_shared_disturbance_is_taken_out():
    """Both servers lose the same in a round; 3 % stay between them."""
    rounds = np.array([0.1, -0.06, 0.02, -0.1, 0.04])
    own = np.array([0.002, -0.001, 0.0, 0.001, -0.002])
    base, other = one_run(rounds), one_run(rounds + own + 0.03)
    assert compare(base, other).verdict in ("improved", "size_uncertain")
    apart = compare(one_run(rounds, rounds=False), one_run(rounds + own + 0.03, rounds=False))
    assert apart.verdict == "inconclusive"


def test_runs_that_both_have_are_compared_pair_by_pair():
    days = {"mon": 0.1, "tue": -0.1, "wed": 0.05, "thu": 0.0}
    base = several_runs({day: [effect] * 2 for day, effect in days.items()})
    other = several_runs({day: [effect + 0.05] * 2 for day, effect in days.items()})
    assert (compare(base, other).verdict, compare(base, other).scope) == ("improved", "runs")
    later = several_runs({day + " later": [effect + 0.05] for day, effect in days.items()})
    assert compare(base, later).verdict == "inconclusive"


def test_single_runs_that_differ_add_the_variation_between_runs():
    base = one_run([0.0, 0.001, -0.001], run="a")
    other = one_run([0.05, 0.051, 0.049], run="b")
    assumed = compare(base, other)
    assert (assumed.verdict, assumed.between) == ("inconclusive", ASSUMED)
    quiet = compare(base, other, floor=Floor(run_sd=0.005, run_freedom=100))
    assert (quiet.verdict, quiet.between.source) == ("improved", "host")
    assert compare(base, one_run([0.05, 0.051, 0.049], run="a")).between is None


@pytest.mark.parametrize("swapped", [False, True])
def test_runs_of_a_side_that_differ_by_more_than_is_assumed_say_how_much(swapped):
    sides = [several_runs({"a": [-0.2], "b": [0], "c": [0.2]}), one_run([0.2] * 3, run="d")]
    comparison = compare(*(reversed(sides) if swapped else sides))
    assert comparison.between.source == "side"
    assert 0.15 < comparison.between.sd < 0.2
    assert compare(*sides, floor=Floor(run_sd=0.01, run_freedom=9)).between.source == "host"
    steady = several_runs({"a": [-0.001], "b": [0], "c": [0.001]})
    assert 0.02 < compare(steady, sides[1]).between.sd < 0.03


def test_no_history_says_that_runs_are_all_alike():
    """By chance, two or three runs often look as if they did not differ at all."""
    widths = []
    for freedom in (1, 2, 9, 100):
        between = sharpen(0.0, freedom, "host")
        widths.append(t_quantile(0.975, between.freedom) * sqrt(between.variance))
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 0.05
    assert widths[2] > 0.03


def test_what_is_assumed_yields_to_a_history_that_contradicts_it():
    few, many = sharpen(0.2**2, 2, "host"), sharpen(0.2**2, 20, "host")
    assert 0.15 < few.sd < many.sd < 0.2
    assert sharpen(0.03**2, 20, "host").sd == pytest.approx(0.03)


def test_a_run_that_holds_both_is_judged_inside_it():
    """The other runs of a side would bring in how much runs differ."""
    base = several_runs({"a": [0.3, 0.301, 0.299], "b": [0.0, 0.001, -0.001]})
    other = one_run([0.02, 0.021, 0.019], run="b")
    comparison = compare(base, other)
    assert comparison.value == pytest.approx(0.02)
    assert (comparison.verdict, comparison.scope) == ("size_uncertain", "shared run")
    assert comparison.between is None
    assert compare(other, base).value == pytest.approx(-0.02)
    # Two trials show no noise, so here the runs are compared.
    few = several_runs({"a": [0.3, 0.301, 0.299], "b": [0.0, 0.001]})
    assert compare(few, other).between is not None


def test_no_difference_below_the_floor_of_the_host_is_told():
    base, other = one_run([0.0, 0.001, -0.001]), one_run([0.02, 0.021, 0.019])
    assert compare(base, other).significant
    assert not compare(base, other, floor=Floor(half_width=0.024)).significant


def test_a_noisy_series_does_not_make_the_others_noisy():
    rng = np.random.default_rng(1)
    quiet = [one_run(rng.normal(level, 0.01, 5)) for level in (0, 0, 0, 0, 0.1)]
    noisy = one_run(rng.normal(0, 0.5, 5))
    page = Page([*quiet, noisy])
    without = Page(quiet).against(0, [4])[0]
    with_noise = page.against(0, [4])[0]
    assert with_noise.high - with_noise.low < 1.5 * (without.high - without.low)


def test_more_comparisons_and_more_families_are_wider():
    rng = np.random.default_rng(2)
    samples = [one_run(rng.normal(0, 0.03, 5), rounds=False) for _ in range(9)]
    page = Page(samples)
    widths = [
        comparison.high - comparison.low
        for comparison in (
            page.against(0, [1])[0],
            page.against(0, range(1, 9))[0],
            page.against(0, range(1, 9), families=4)[0],
        )
    ]
    assert widths == sorted(widths)
    assert widths[0] < widths[1] < page.all_pairs().comparison(0, 1).high * 2 + widths[2]


def test_rank_sets_by_hand():
    """Three levels; the two servers in the middle are alike."""
    noise = np.array([-0.01, 0.01, 0.0, 0.005, -0.005])
    samples = [one_run(noise + level, rounds=False) for level in (0.0, 0.5, 0.505, 1.0)]
    pairs = Page(samples).all_pairs()
    assert rank_sets(pairs) == [(4, 4), (2, 3), (2, 3), (1, 1)]
    assert rank_sets(pairs, better="lower") == [(1, 1), (2, 3), (2, 3), (4, 4)]
    assert pairs.told_apart(3, 0)
    assert not pairs.told_apart(2, 1)


@given(st.lists(logs, min_size=2, max_size=5))
def test_every_place_is_possible_for_some_series(values):
    sets = rank_sets(Page([one_run(each) for each in values]).all_pairs())
    for place in range(1, len(sets) + 1):
        assert any(first <= place <= last for first, last in sets)


def false_pages(count, trials, *, spreads=None, pages=500, **sample_options):
    """The shares of pages of equal servers with a significant row, and with some pair apart."""
    rng = np.random.default_rng(7)
    rows = apart = 0
    for _ in range(pages):
        noises = np.full(count, 0.03) if spreads is None else spreads(rng, count)
        page = Page([one_run(rng.normal(0, noise, trials), **sample_options) for noise in noises])
        rows += any(each.significant for each in page.against(0, range(1, count)))
        pairs = page.all_pairs()
        apart += any(pairs.told_apart(0, index) for index in range(1, count))
    return rows / pages, apart / pages


@pytest.mark.parametrize(("count", "trials"), [(2, 5), (8, 5), (16, 5)])
def test_pages_of_equal_servers_seldom_hold_a_false_row(count, trials):
    rows, apart = false_pages(count, trials)
    assert rows <= 0.08
    assert apart <= 0.08


def test_a_noisy_baseline_is_seldom_told_apart_wrongly():
    """CV 4 % against 1 %; Dunnett's test, with one pooled variance, has 23 % of such pages."""
    rows, _ = false_pages(8, 10, spreads=lambda _, count: np.array([0.04] + [0.01] * (count - 1)))
    assert rows <= 0.09


NEAR = np.array([0.0, 0.02, -0.02])


@pytest.mark.parametrize(("spread", "verdict"), [(1, "improved"), (3, "size_uncertain")])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_verdict_does_not_rest_on_the_baseline_being_as_steady(spread, verdict, sign):
    """Three times the noise in three trials is no proof of more noise, so noise is pooled."""
    base = one_run(NEAR * spread, rounds=False)
    others = [one_run(np.roll(NEAR, at) + sign * 0.15, rounds=False) for at in range(7)]
    rows = Page([base, *others]).against(0, range(1, 8))
    told = verdict if sign > 0 else SWAPPED.get(verdict, verdict)
    assert {row.verdict for row in rows} == {told}
    assert all(min(abs(row.low), abs(row.high)) > log(1.02) for row in rows)
    assert {row.why == IF_BASELINE_IS_STEADY for row in rows} == {spread == 3}


@pytest.mark.parametrize("noise", [3, 5])
def test_three_trials_of_a_noisy_baseline_seldom_give_a_verdict(noise):
    """Without a guard, 10 of 100 pages have one where the noise is five times as large."""
    rng = np.random.default_rng(3)
    spreads = [0.02 * noise, *[0.02] * 15]
    pages = [
        Page([one_run(rng.normal(0, spread, 3), rounds=False) for spread in spreads])
        for _ in range(600)
    ]
    judged = [page.against(0, range(1, 16)) for page in pages]
    assert sum(any(row.is_sized for row in rows) for rows in judged) <= 0.06 * len(pages)


def test_a_shared_disturbance_of_five_percent_does_not_hide_three():
    rng = np.random.default_rng(8)
    told = 0
    for _ in range(400):
        rounds = rng.normal(0, 0.05, 5)
        base, other = rounds + rng.normal(0, 0.01, 5), rounds + rng.normal(log(1.03), 0.01, 5)
        told += compare(one_run(base), one_run(other)).significant
    assert told >= 0.86 * 400
