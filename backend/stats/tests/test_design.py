"""What an interval does not allow for: one start of a server, and the order of measuring."""

from itertools import combinations

import numpy as np
import pytest

from backend.stats.comparison import Page, against_baseline
from backend.stats.design import SOUND
from backend.stats.replicates import Observation, Sample
from backend.stats.workloads import mean_comparison

DAY_S, HOUR_S = 86_400.0, 3_600.0
NOISE = 0.01
# How much starts of one server differ.
STARTS_DIFFER = 0.02


def sample(values, **columns):
    """Trials of one run. `columns`: a value for each trial, of what an observation has."""
    trials = [
        Observation(
            float(value),
            **{"run": "a", **{name: column[place] for name, column in columns.items()}},
        )
        for place, value in enumerate(values)
    ]
    return Sample(tuple(trials))


def design(first, second):
    (comparison,) = against_baseline(first, [second])
    return comparison.design


def of_starts(*starts):
    return sample([0.0] * len(starts), start=starts)


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        ((1, 3, 5), (2, 4, 6), None),
        # Two trials of each start.
        ((1, 1, 3, 3, 5, 5), (2, 2, 4, 4, 6, 6), None),
        ((1, 1, 1), (2, 4, 6), "few"),
        ((1, 1, 3), (2, 2, 4), "few"),
        ((1, 3, 5), (None, None, None), "unknown"),
        ((1, 1, 1), (None, None, None), "unknown"),
    ],
)
def test_starts_that_no_interval_covers(first, second, word):
    assert design(of_starts(*first), of_starts(*second)).starts == word


def test_times_tell_the_order_and_numbers_only_without_them():
    turns, later = ((0, 2, 4), (1, 3, 5)), ((0.0, 1.0, 2.0), (60.0, 61.0, 62.0))
    apart = [in_order(*each) for each in zip(turns, strict=True)]
    assert design(*apart).order is None
    timed = [in_order(own, began_s=at) for own, at in zip(turns, later, strict=True)]
    assert design(*timed).order == "apart"
    # The time of the run is no time of a trial.
    of_run = [in_order(own, began_s=(0.0, 0.0, 0.0)) for own in turns]
    assert design(*of_run).order is None


def test_runs_are_starts_by_themselves():
    one, three = sample([0.0] * 3), sample([0.0] * 3, run="abc")
    other = sample([0.0] * 3, run="xxx")
    assert design(one, one).starts == "unknown"
    assert design(three, three).starts is None
    # The interval allows for runs that differ.
    assert design(one, other).starts is None


def in_order(turns, **columns):
    return sample([0.0] * len(turns), turn=turns, start=turns, **columns)


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        ((0, 1, 2), (3, 4, 5), "apart"),
        ((3, 4, 5), (0, 1, 2), "apart"),
        ((0, 2, 4), (1, 3, 5), None),
        ((0, 1, 3), (2, 4, 5), None),
        # Chance gives this order to two trials each once in three times.
        ((0, 1), (2, 3), None),
        ((0, 1, None), (3, 4, 5), None),
    ],
)
def test_one_server_after_the_other(first, second, word):
    assert design(in_order(first), in_order(second)).order == word


def test_turns_are_those_of_one_run():
    """A first in one run, B first in the other: no drift favours one of them."""
    runs = "aaabbb"
    a, b = (0, 1, 2, 3, 4, 5), (3, 4, 5, 0, 1, 2)
    assert design(in_order(a, run=runs), in_order(b, run=runs)).order is None
    a, b = (0, 1, 2, 0, 1, 2), (3, 4, 5, 3, 4, 5)
    assert design(in_order(a, run=runs), in_order(b, run=runs)).order == "apart"
    assert design(in_order((0, 1, 2)), in_order((3, 4, 5), run="xxx")).order is None


@pytest.mark.parametrize(("rounds", "word"), [(4, None), (5, "fixed")])
def test_one_order_in_every_round(rounds, word):
    a, b = range(0, 2 * rounds, 2), range(1, 2 * rounds, 2)
    own = range(rounds)
    assert design(in_order(a, round=own), in_order(b, round=own)).order == word
    # Of no common round, nothing is known.
    assert design(in_order(a, round=own), in_order(b, round=range(20, 20 + rounds))).order is None


def at(*begins_s, run="aaa"):
    return sample([0.0] * len(begins_s), began_s=begins_s, start=begins_s, run=run)


def test_hours_between_two_series():
    day, night = (0.0, 60.0, 120.0), (DAY_S / 2, DAY_S / 2 + 60, DAY_S / 2 + 120)
    assert design(at(*day), at(*night)).gap_s == DAY_S / 2 - 120
    assert design(at(*night), at(*day, run="bbb")).gap_s == DAY_S / 2 - 120
    # Three runs of each show how days differ.
    assert design(at(*day, run="abc"), at(*night, run="xyz")).gap_s is None
    assert design(at(*day, run="abc"), at(*night)).gap_s is not None


def test_series_that_were_measured_together_have_no_gap():
    long = (0.0, HOUR_S, 4 * HOUR_S)
    assert design(at(*long), at(60.0, 3 * HOUR_S, 5 * HOUR_S)) == SOUND
    assert design(at(0.0, 60.0, 120.0), at(180.0, 240.0, 300.0)).gap_s is None
    assert design(sample([0.0] * 3), at(*long)).gap_s is None


def test_a_mean_over_workloads_has_the_worst_of_each():
    comparisons = [
        *against_baseline(of_starts(1, 3, 5), [of_starts(2, 4, 6)]),
        *against_baseline(of_starts(1, 1, 1), [of_starts(2, 2, 2)]),
        *against_baseline(in_order((0, 1, 2)), [in_order((3, 4, 5))]),
    ]
    mean = mean_comparison(comparisons)
    assert (mean.design.starts, mean.design.order) == ("few", "apart")


def draw(rng, servers, starts, trials_of_each=1):
    """Equal servers in one run, whose starts differ."""
    effects = rng.normal(0, STARTS_DIFFER, (servers, starts)).repeat(trials_of_each, 1)
    values = effects + rng.normal(0, NOISE, effects.shape)
    names = np.arange(starts).repeat(trials_of_each).tolist()
    return [sample(own, start=names, round=range(len(own))) for own in values]


@pytest.mark.parametrize(("starts", "trials_of_each"), [(3, 1), (5, 1), (10, 1), (3, 2), (5, 3)])
def test_of_equal_servers_that_are_started_again_few_are_told_apart(starts, trials_of_each):
    rng = np.random.default_rng(3)
    told = of_pages = 0
    for _ in range(1000):
        base, other = draw(rng, 2, starts, trials_of_each)
        (comparison,) = against_baseline(base, [other])
        assert comparison.design == SOUND
        told += comparison.significant
    for _ in range(300):
        pairs = Page(draw(rng, 8, starts, trials_of_each)).all_pairs()
        of_pages += any(pairs.told_apart(*pair) for pair in combinations(range(8), 2))
    # Five of a hundred, and what chance adds: 3.3 standard errors.
    assert told <= 73
    assert of_pages <= 27


def test_one_start_tells_equal_servers_apart_and_the_design_says_so():
    rng = np.random.default_rng(4)
    verdicts = 0
    for _ in range(300):
        base, other = draw(rng, 2, 1, 5)
        (comparison,) = against_baseline(base, [other])
        assert comparison.design.starts == "few"
        verdicts += comparison.is_sized
    assert verdicts > 45


def test_workloads_of_one_start_do_not_average_it_out():
    """Eight workloads that are measured with the same starts of each server."""
    rng = np.random.default_rng(5)
    told = 0
    for _ in range(400):
        effects = rng.normal(0, STARTS_DIFFER, (2, 5))
        comparisons = []
        for _ in range(8):
            values = effects + rng.normal(0, NOISE, effects.shape)
            pair = [sample(own, start=range(5), round=range(5)) for own in values]
            comparisons += against_baseline(pair[0], pair[1:])
        told += mean_comparison(comparisons).significant
    assert told <= 34
