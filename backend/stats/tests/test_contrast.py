"""New runs beside the runs of their history: one variance, and what shows it."""

from math import sqrt

import pytest

from backend.stats.comparison import Floor, Page
from backend.stats.replicates import Observation, Sample

ONE_HISTORY = Floor(is_one_history=True)
# The means differ by 1 %: their variance is 1e-4.
HISTORY = {"a": -0.01, "b": 0.0, "c": 0.01}


def sample(levels, trials=3):
    """Runs whose trials hardly differ."""
    spread = (-1e-4, 0.0, 1e-4)
    return Sample(
        tuple(
            Observation(level + spread[at], run, at)
            for run, level in levels.items()
            for at in range(trials)
        )
    )


def compare(history, new):
    return Page([sample(history), sample(new)], ONE_HISTORY).against(0, [1])[0]


def test_one_run_has_the_variance_of_the_history():
    precision = compare(HISTORY, {"new": 0.0}).precision
    assert precision.error == pytest.approx(0.01 * sqrt(1 / 3 + 1))
    assert precision.freedom == pytest.approx(2)
    assert precision.steady == pytest.approx(1e-4 / 3)


def test_two_runs_that_differ_less_are_pooled_with_the_history():
    # Of 0.005 and −0.005: the sum of squares is 5e-5, with one degree.
    precision = compare(HISTORY, {"x": 0.005, "y": -0.005}).precision
    variance = (2 * 1e-4 + 5e-5) / 3
    assert precision.error == pytest.approx(sqrt(variance * (1 / 3 + 1 / 2)))
    assert precision.freedom == pytest.approx(3)


def test_the_history_counts_less_if_new_runs_differ_by_far_more():
    history = {run: 0.01 * (-1) ** run for run in range(20)}
    alike = compare(history, {"x": 0.01, "y": 0.0, "z": -0.01}).precision
    unlike = compare(history, {"x": 0.1, "y": 0.0, "z": -0.1}).precision
    assert alike.freedom > 15
    # As if nothing was known but the three runs.
    assert unlike.freedom == pytest.approx(2, abs=0.1)
    assert unlike.error == pytest.approx(0.1 * sqrt(1 / 20 + 1 / 3), rel=0.05)


def test_a_history_without_noise_does_not_hide_that_of_new_runs():
    precision = compare(dict.fromkeys("abc", 0.0), {"x": 0.01, "y": -0.01}).precision
    assert precision.error > 0.005
    assert precision.half_width > 0.05


def test_each_further_run_of_a_build_makes_its_interval_narrower():
    history = {run: 0.01 * (-1) ** run for run in range(12)}
    levels = [0.01, -0.01, 0.012, -0.008, 0.009]
    widths = [
        compare(history, {f"n{at}": level for at, level in enumerate(levels[:count])}).precision
        for count in range(1, 6)
    ]
    halves = [each.half_width for each in widths]
    assert halves == sorted(halves, reverse=True)


def test_sides_that_share_their_runs_are_compared_run_by_run():
    """What moves a whole run is in both sides, and cancels."""
    levels = {run: 0.2 * run for run in range(4)}
    (row,) = Page(
        [sample(levels), sample({run: level + 0.05 for run, level in levels.items()})], ONE_HISTORY
    ).against(0, [1])
    assert row.low == pytest.approx(0.05, abs=0.01)
    assert row.high == pytest.approx(0.05, abs=0.01)
