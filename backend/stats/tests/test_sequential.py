"""The error rate of a build that is judged again after each of its runs."""

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest

from backend.stats.comparison import Floor, Rule, matched_pairs
from backend.stats.replicates import CONFIDENCE, Observation, Sample
from backend.stats.sequential import MOST_RUNS, intervals_shared

DRAWS = 200_000


def quantiles(most_runs):
    """Normal quantiles of the intervals with 1 to `most_runs` runs."""
    shared = [intervals_shared(runs, most_runs) for runs in range(1, most_runs + 1)]
    return [NormalDist().inv_cdf((1 + CONFIDENCE ** (1 / each)) / 2) for each in shared]


def test_who_asks_once_shares_with_nobody():
    assert [intervals_shared(runs, 1) for runs in (1, 4, 9)] == [1.0] * 3


@pytest.mark.parametrize("most_runs", range(2, MOST_RUNS + 1))
def test_the_intervals_of_all_runs_hold_together(most_runs):
    """A random walk, whose steps are the runs, leaves its bounds in 5 % of cases."""
    steps = np.random.default_rng(1).standard_normal((DRAWS, most_runs))
    sums = steps.cumsum(axis=1) / np.sqrt(np.arange(1, most_runs + 1))
    outside = (abs(sums) > quantiles(most_runs)).any(axis=1).mean()
    assert outside == pytest.approx(1 - CONFIDENCE, abs=4 * sqrt(0.05 * 0.95 / DRAWS))


def test_later_intervals_are_surer_and_the_last_is_nearly_as_one_alone():
    found = quantiles(4)
    assert found == sorted(found, reverse=True)
    assert found[-1] < 2.12
    assert intervals_shared(9, 4) == intervals_shared(4, 4)


def test_an_early_interval_is_wider_for_who_will_ask_again():
    def half_width(count, most_runs):
        history, build = measured(range(5)), measured([f"b{run}" for run in range(count)])
        floor = Floor(is_one_history=True)
        (row,) = matched_pairs(
            [(history, build)], Rule(), floor=floor, families=1, most_runs=most_runs
        )
        return row.precision.half_width

    def measured(runs):
        chance = np.random.default_rng(3)
        levels = {run: chance.normal(0, 0.02) for run in runs}
        return Sample(
            tuple(
                Observation(float(chance.normal(levels[run], 0.01)), run)
                for run in runs
                for _ in range(3)
            )
        )

    assert half_width(1, 4) > 1.5 * half_width(1, 1)
    assert half_width(4, 4) < 1.15 * half_width(4, 1)
