import subprocess
import sys
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.stats.changes import (
    LEAST_POSITIONS,
    best_segmentation,
    find_changes,
    least_change,
)
from backend.stats.comparison import Rule

levels = st.lists(st.floats(-1, 1), min_size=5, max_size=9)


def series_of(*levels, noise=0.01, trials=5, seed=1):
    """Trials at each level (a logarithm), with noise between positions and within."""
    rng = np.random.default_rng(seed)
    return [
        np.exp(level + rng.normal(0, noise) + rng.normal(0, noise, trials)).tolist()
        for level in levels
    ]


def test_a_step_is_found_where_it_is_and_of_its_size():
    (found,) = find_changes(series_of(*[0] * 8, *[0.2] * 8))
    assert found.index == 8
    assert found.ratio.low < np.exp(0.2) < found.ratio.high
    assert found.ratio.verdict == "improved"
    assert found.after / found.before == pytest.approx(found.ratio.value)


def test_the_same_step_of_a_latency_is_a_regression():
    (found,) = find_changes(series_of(*[0] * 8, *[0.2] * 8), Rule("lower"))
    assert found.ratio.verdict == "regressed"


def test_a_level_has_at_least_three_positions():
    """The newest one or two may be disturbed, as one position in ten is on many machines."""
    for count, changes in ((1, 0), (2, 0), (3, 1)):
        assert len(find_changes(series_of(*[0] * 9, *[-0.3] * count))) == changes
        assert len(find_changes(series_of(*[-0.3] * count, *[0] * 9))) == changes


def test_disturbed_positions_are_no_new_level():
    assert find_changes(series_of(*[0] * 6, -0.3, *[0] * 6)) == []
    # Two of three that lie together are not a level, but one of six beside a new level is none.
    assert find_changes(series_of(*[0] * 6, -0.3, 0, -0.3, *[0] * 6)) == []
    (found,) = find_changes(series_of(*[0] * 8, *[-0.3] * 4, 0, *[-0.3] * 4))
    assert found.index == 8


def test_one_position_in_ten_disturbed_seldom_shows_a_change():
    rng = np.random.default_rng(11)
    shown = 0
    for _ in range(200):
        levels = np.where(rng.random(20) < 0.1, -0.2, 0.0)
        shown += bool(find_changes(series_of(*levels, seed=rng.integers(1 << 30))))
    assert shown <= 10


def test_a_negative_answer_names_a_change_that_would_have_been_found():
    positions = series_of(*[0] * 20, noise=0.03)
    least = least_change(positions)
    found = 0
    for seed in range(100):
        levels = [*[0] * 10, *[np.log1p(least)] * 10]
        found += len(find_changes(series_of(*levels, noise=0.03, seed=seed)))
    assert 65 <= found <= 100
    assert least_change(positions[:5]) is None


def test_trials_that_agree_do_not_hide_that_positions_differ_anyway():
    rng = np.random.default_rng(3)
    days = [np.exp(rng.normal(0, 0.1) + rng.normal(0, 0.001, 10)).tolist() for _ in range(20)]
    # Every two days differ beyond the noise of their trials, and still nothing changed.
    assert find_changes(days) == []


def test_a_change_that_matters_to_nobody_is_none():
    assert find_changes(series_of(*[0] * 20, *[0.01] * 20, noise=0.001), Rule(relevant=0.02)) == []


def test_positions_without_trials_are_passed_over():
    positions = series_of(*[0] * 8, *[0.2] * 8)
    positions[3:3] = [[], []]
    (found,) = find_changes(positions)
    assert found.index == 10


def test_fewer_than_three_trials_after_say_nothing_yet():
    positions = series_of(*[0] * 9, *[-0.3] * 3)
    positions[-3:] = [positions[-3][:2], [], []]
    assert find_changes(positions) == []


def test_constant_positions_have_a_change_without_noise():
    (found,) = find_changes([[100.0] * 3] * 4 + [[150.0] * 3] * 4)
    assert (found.index, found.ratio.value) == (4, pytest.approx(1.5))


@pytest.mark.parametrize("positions", [[], [[1.0]] * (LEAST_POSITIONS - 1), [[0.0, 1.0]] * 9])
def test_too_few_positions_or_a_zero_have_no_change(positions):
    assert find_changes(positions) == []


@given(levels, st.floats(0.001, 1000))
def test_the_unit_of_the_figure_does_not_matter(values, unit):
    positions = series_of(*values)
    scaled = [[trial * unit for trial in each] for each in positions]
    assert [one.index for one in find_changes(scaled)] == [
        one.index for one in find_changes(positions)
    ]


@given(levels)
def test_what_is_reported_is_significant_and_relevant(values):
    for one in find_changes(series_of(*values)):
        assert not one.ratio.low <= 1 <= one.ratio.high
        assert max(one.ratio.value, 1 / one.ratio.value) > 1.02


def cost(means, starts, penalty):
    bounds = [0, *starts, len(means)]
    parts = [means[a:b] for a, b in pairwise(bounds)]
    return sum(((part - part.mean()) ** 2).sum() for part in parts) / 2 + penalty * len(starts)


@settings(deadline=None)
@given(st.lists(st.floats(-9, 9), min_size=2, max_size=9), st.floats(0.1, 20))
def test_the_library_finds_the_best_of_all_segmentations(values, penalty):
    means = np.array(values)
    every = (
        list(starts)
        for many in range(len(means))
        for starts in combinations(range(1, len(means)), many)
    )
    best = min(cost(means, starts, penalty) for starts in every)
    found = best_segmentation(values, penalty)
    assert cost(means, found, penalty) == pytest.approx(best)


def test_pure_noise_seldom_changes():
    """Of series with noise between positions as large as within, fewer than one in twenty."""
    found = sum(
        bool(find_changes(series_of(*[0] * 12, noise=0.03, seed=seed))) for seed in range(500)
    )
    assert found <= 25


def test_a_step_of_five_times_the_noise_is_found():
    found = [
        [one.index for one in find_changes(series_of(*[0] * 8, *[0.1] * 8, noise=0.02, seed=seed))]
        for seed in range(200)
    ]
    assert sum(8 in one for one in found) >= 170


@pytest.mark.parametrize(("correlation", "most"), [(0.3, 15), (0.6, 15)])
def test_noise_that_neighbours_share_is_seldom_a_change(correlation, most):
    """A lag-one correlation, as a machine that slowly drifts has it."""
    own = 0.03 * np.sqrt(1 - correlation**2)
    changed = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        level, positions = 0.0, []
        for _ in range(30):
            level = correlation * level + rng.normal(0, own)
            positions.append(np.exp(level + rng.normal(0, 0.03, 3)).tolist())
        changed += bool(find_changes(positions))
    assert changed <= most


def test_the_library_is_loaded_by_a_trend_only():
    code = "import sys, backend.stats.changes;sys.exit('fastcpd' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
