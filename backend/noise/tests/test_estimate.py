"""The noise of a host: figures by hand, and simulations of a known noise."""

import math
import random
import statistics

import pytest

from backend.noise.estimate import RunMean, group_overlapping, noise_floor, run_variation


def mean_of(level: object, run: object, logs: list[float]) -> RunMean:
    centre = statistics.mean(logs)
    return RunMean(level, run, len(logs), centre, sum((each - centre) ** 2 for each in logs))


def test_the_floor_by_hand():
    # Root mean square of 0.01, 0.02, 0.02 is 0.0173; t(3) = 3.182.
    floor = noise_floor([[0.01], [-0.02], [0.02]])
    assert floor == pytest.approx(math.expm1(3.182446 * math.sqrt(0.0009 / 3)), rel=1e-6)


def test_loads_that_share_server_starts_count_as_one_comparison():
    assert noise_floor([[0.01, 0.01, 0.01], [0.01, 0.01]]) is None
    one_load, many_loads = [[0.01]] * 3, [[0.01] * 5] * 3
    assert noise_floor(one_load) == pytest.approx(noise_floor(many_loads))


def test_the_floor_holds_95_percent_of_new_differences():
    draw = random.Random(1)
    inside = 0
    for _ in range(3000):
        floor = noise_floor([[draw.gauss(0, 0.02)] for _ in range(4)])
        inside += abs(draw.gauss(0, 0.02)) < math.log1p(floor)
    assert 0.935 <= inside / 3000 <= 0.965


def test_runs_by_hand():
    # Two runs of two trials: means 0 and 0.1, within variance 0.0002 each, so the squares between
    # are 4 × 0.05² = 0.01; less 0.0002; divided by 4 − 8 / 4 = 2.
    runs = [mean_of("x", 1, [-0.01, 0.01]), mean_of("x", 2, [0.09, 0.11])]
    variation = run_variation(runs)
    assert variation.sd == pytest.approx(math.sqrt((0.01 - 0.0002) / 2))
    assert variation.freedom == 1


def test_levels_of_the_same_runs_give_no_more_freedom():
    levels = [mean_of(level, run, [0.0, 0.1]) for level in "abc" for run in (1, 2, 3)]
    assert run_variation(levels).freedom == 2
    apart = [mean_of("d", run, [0.0, 0.1]) for run in (8, 9)]
    assert run_variation(levels + apart).freedom == 3


def test_what_does_not_tell_is_unknown():
    assert run_variation([]) is None
    assert run_variation([mean_of("x", 1, [0.0, 0.1]), mean_of("y", 2, [0.0, 0.1])]) is None
    assert run_variation([mean_of("x", 1, [0.0]), mean_of("x", 2, [0.1])]) is None


def test_equal_runs_have_no_variance_of_their_own():
    assert run_variation([mean_of("x", run, [-0.1, 0.1]) for run in (1, 2)]).sd == 0


def test_the_run_effect_is_found_beneath_the_noise_of_trials():
    draw = random.Random(3)
    variances = []
    for _ in range(400):
        means = []
        for run in range(6):
            shift = draw.gauss(0, 0.03)
            for level in "ab":
                logs = [shift + draw.gauss(0, 0.02) for _ in range(5)]
                means.append(mean_of(level, run, logs))
        variances.append(run_variation(means).sd ** 2)
    assert statistics.mean(variances) == pytest.approx(0.03**2, rel=0.1)


def test_sets_that_overlap_by_way_of_others_are_one_group():
    sets = [{1, 2}, {3}, {4, 5}, {2, 4}, {6}, {3}]
    one, other, same, link, alone, again = group_overlapping([frozenset(each) for each in sets])
    assert one == same == link
    assert other == again
    assert len({one, other, alone}) == 3
