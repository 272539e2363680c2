from math import sqrt

import numpy as np
import pytest

from backend.stats.comparison import Rule, against_baseline
from backend.stats.replicates import Observation, Sample
from backend.stats.workloads import mean_comparison


def sample(values, run="a"):
    return Sample(tuple(Observation(float(value), run) for value in values))


def compare(base, other):
    (comparison,) = against_baseline(base, [other])
    return comparison


def test_by_hand():
    """Ratios of 1.5 and 0.75: √(1.5 · 0.75) = 1.06."""
    noise = np.array([0.01, -0.01, 0.0])
    comparisons = [compare(sample(noise), sample(noise + np.log(ratio))) for ratio in (1.5, 0.75)]
    mean = mean_comparison(comparisons)
    assert np.exp(mean.value) == pytest.approx(sqrt(1.5 * 0.75))
    assert mean.precision.error == pytest.approx(comparisons[0].precision.error / sqrt(2))
    assert mean.verdict == "improved"
    assert mean_comparison(comparisons, Rule("lower")).verdict == "regressed"


def test_one_workload_is_its_comparison():
    comparison = compare(sample([0, 0.01, -0.01]), sample([0.02, 0.03, 0.025]))
    mean = mean_comparison([comparison])
    assert (mean.low, mean.high) == pytest.approx((comparison.low, comparison.high))


def test_more_rows_are_wider():
    comparison = compare(sample([0, 0.01, -0.01]), sample([0.02, 0.03, 0.025]))
    assert mean_comparison([comparison] * 2, rows=9).high > mean_comparison([comparison] * 2).high


def test_runs_that_differ_do_so_on_every_workload():
    comparisons = [compare(sample([0, 0.01, -0.01]), sample([0, 0.01, -0.01], run="b"))] * 4
    mean = mean_comparison(comparisons)
    assert mean.precision.error == pytest.approx(comparisons[0].precision.error)
    assert (mean.between.sd, mean.between.source) == (0.03, "assumed")


def test_a_workload_of_two_trials_leaves_it_open():
    few = compare(sample([0, 0.01]), sample([0.02, 0.03]))
    mean = mean_comparison([few, compare(sample([0, 0.01, 0.02]), sample([0.02, 0.03, 0.025]))])
    assert (mean.low, mean.verdict) == (None, "inconclusive")


def test_no_workload_has_no_mean():
    with pytest.raises(ValueError, match="no workload"):
        mean_comparison([])
