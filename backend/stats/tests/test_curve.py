from math import log10

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.stats.histogram import PERCENTS, Histogram, percentile_curve

samples = st.lists(st.integers(0, 10_000_000), max_size=400)


def curve_of(values):
    return percentile_curve(Histogram.from_samples(np.array(values, dtype=np.int64)))


def test_the_axis_is_even_in_nines_and_has_the_percentiles_people_name():
    nines = [-log10(1 - percent / 100) for percent in PERCENTS]
    steps = np.diff(nines)
    assert nines[0] == pytest.approx(log10(2))
    assert steps[1:] == pytest.approx(0.1, abs=5e-3)
    assert 40 <= len(PERCENTS) <= 60
    assert {50, 90, 99, 99.9, 99.99, 99.999} <= set(PERCENTS)


def test_each_point_is_the_nearest_rank():
    """Against the sorted requests, below 2 048 µs, where a bucket is one µs."""
    values = np.random.default_rng(1).integers(0, 2000, 5000)
    ordered = np.sort(values)
    curve = curve_of(values)
    for percent, us in curve:
        assert us == ordered[int(np.ceil(np.round(percent * 5000 / 100, 6))) - 1]


@pytest.mark.parametrize(
    ("count", "last"),
    [(19, None), (20, 50), (100, 90), (999, 98.74107), (1000, 99), (10_000, 99.9)],
)
def test_the_curve_stops_where_fewer_than_ten_requests_are_beyond(count, last):
    curve = curve_of(range(count))
    assert (curve[-1][0] if curve else None) == last


def test_a_million_requests_reach_the_end_of_the_axis():
    counts = Histogram.from_counts(np.array([1000, 9000]), np.array([999_980, 20]))
    curve = percentile_curve(counts)
    assert len(curve) == len(PERCENTS)
    assert curve[0] == [50, 1000]
    assert curve[-1] == [99.999, counts.percentile(99.999)]
    assert curve[-1][1] > 9000 * 0.999


def test_no_requests_have_no_curve():
    assert percentile_curve(Histogram()) == []


@given(samples)
def test_the_curve_rises_and_agrees_with_the_percentiles(values):
    histogram = Histogram.from_samples(np.array(values, dtype=np.int64))
    curve = percentile_curve(histogram)
    assert [us for _, us in curve] == sorted(us for _, us in curve)
    for percent, us in curve:
        assert us == histogram.percentile(percent)
        assert sum(value > us for value in values) <= len(values) * (100 - percent) / 100
    assert bool(curve) == (len(values) >= 20)
