import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.stats.knee import Load, find_knee
from backend.stats.replicates import Observation, Sample

LOADS = (1, 2, 4, 8, 16, 32, 64, 128)


def sweep(curve, noise=0.005, trials=5, seed=1):
    rng = np.random.default_rng(seed)
    return [
        Load(x, tuple((curve(x) * np.exp(rng.normal(0, noise, trials))).tolist())) for x in LOADS
    ]


def saturating(x):
    return min(x, 16) * 1000.0


def test_the_knee_is_where_throughput_stops_rising():
    knee = find_knee(sweep(saturating))
    assert (knee.outcome, knee.x, knee.above, knee.perhaps) == ("found", 16, 8, None)
    assert 0 <= knee.excess < 0.02


def test_throughput_that_falls_beyond_has_its_knee_at_the_top():
    assert find_knee(sweep(lambda x: saturating(x) * (1 if x <= 16 else 0.8))).x == 16


def test_small_steps_that_add_up_are_a_gain():
    """Each load is within the threshold of the next, the first is not of the last."""
    knee = find_knee(sweep(lambda x: 1000 * 1.015 ** LOADS.index(x), noise=0.0005))
    assert knee.x == 64


def test_throughput_that_still_rises_has_no_knee():
    knee = find_knee(sweep(lambda x: 1000.0 * x))
    assert (knee.outcome, knee.x, knee.highest) == ("rising", None, 128)


def test_a_flat_sweep_has_its_knee_at_the_first_load_or_below():
    knee = find_knee(sweep(lambda _: 1000.0, noise=0.001))
    assert (knee.x, knee.above) == (1, None)


def test_a_gain_that_trials_do_not_bear_out_leaves_it_open():
    loads = sweep(saturating, noise=0)[:6]
    unsure = [Load(64, (16_100.0, 16_900.0, 15_900.0)), Load(128, (18_000.0, 15_000.0, 17_500.0))]
    knee = find_knee([*loads, *unsure])
    assert (knee.outcome, knee.x, knee.perhaps) == ("unsure", None, 16)


@pytest.mark.parametrize(
    "loads",
    [
        [],
        [Load(1, (1.0,) * 3), Load(2, (2.0,) * 3)],
        [Load(x, (1000.0 * x, 1010.0 * x)) for x in LOADS],
        [Load(x, (0.0,) * 5) for x in LOADS],
    ],
)
def test_too_little_is_no_knee(loads):
    assert find_knee(loads).outcome == "few"


def test_noise_of_one_percent_moves_no_clear_knee():
    found = [find_knee(sweep(saturating, noise=0.01, seed=seed)).x for seed in range(200)]
    assert found.count(16) >= 192


def test_noise_of_three_percent_leads_to_no_wrong_knee():
    knees = [find_knee(sweep(saturating, noise=0.03, seed=seed)) for seed in range(200)]
    assert sum(knee.x not in (16, None) for knee in knees) <= 4
    assert sum(knee.outcome == "found" for knee in knees) >= 100


def test_runs_that_differ_are_the_noise_of_a_knee():
    """Five trials of one percent in each of three runs, which differ by ten."""
    rng = np.random.default_rng(2)
    runs = rng.normal(0, 0.1, (len(LOADS), 3))
    loads = []
    for row, x in zip(runs, LOADS, strict=True):
        values = [
            (run, float(np.log(saturating(x)) + effect + rng.normal(0, 0.01)))
            for run, effect in enumerate(row)
            for _ in range(5)
        ]
        sample = Sample(tuple(Observation(value, run) for run, value in values))
        loads.append(Load(x, tuple(float(np.exp(value)) for _, value in values), sample))
    by_runs = find_knee(loads)
    one_run = find_knee([Load(load.x, load.throughput) for load in loads])
    assert (by_runs.excess or 1) > 2 * (one_run.excess or 0)


trials = st.lists(st.floats(100, 1e5), min_size=3, max_size=5).map(tuple)
sweeps = st.dictionaries(st.integers(1, 1000), trials, min_size=3, max_size=8)


@given(sweeps, st.randoms())
def test_the_knee_is_a_measured_load_and_the_order_does_not_matter(by_load, random):
    loads = [Load(x, each) for x, each in by_load.items()]
    shuffled = random.sample(loads, len(loads))
    knee = find_knee(loads)
    assert knee == find_knee(shuffled)
    assert knee.x is None or knee.x in by_load
    assert knee.perhaps is None or knee.x is None or knee.perhaps < knee.x


@given(sweeps)
def test_no_load_beyond_the_knee_is_a_gain_by_its_means(by_load):
    loads = {x: Load(x, each) for x, each in by_load.items()}
    knee = find_knee(list(loads.values()))
    if knee.x is not None:
        beyond = [_level(load) for x, load in loads.items() if x > knee.x]
        assert max(beyond) <= _level(loads[knee.x]) * 1.02 * (1 + 1e-9)


def _level(load):
    return np.exp(np.mean(np.log(load.throughput)))


@given(sweeps, st.floats(0.01, 100))
def test_the_unit_of_throughput_does_not_matter(by_load, unit):
    scaled = [Load(x, tuple(value * unit for value in each)) for x, each in by_load.items()]
    before, after = find_knee([Load(x, each) for x, each in by_load.items()]), find_knee(scaled)
    assert (before.outcome, before.x, before.perhaps) == (after.outcome, after.x, after.perhaps)
