import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.stats import Histogram

latencies = st.lists(st.integers(0, 3_600_000_000), min_size=1, max_size=200)


def of(values):
    return Histogram.from_samples(np.array(values, dtype=np.int64))


def figures(histogram):
    return histogram.count, [histogram.percentile(p) for p in (0, 50, 90, 99, 99.9, 100)]


@given(latencies, latencies, latencies)
def test_merging_is_associative_commutative_and_keeps_counts(a, b, c):
    one, two, three = of(a), of(b), of(c)
    left = one.merge(two).merge(three)
    assert figures(left) == figures(one.merge(two.merge(three)))
    assert figures(left) == figures(three.merge(two, one))
    assert figures(left) == figures(of(a + b + c))
    assert left.count == len(a) + len(b) + len(c)


@given(latencies)
def test_bytes_come_back_as_the_same_histogram(values):
    histogram = of(values)
    assert figures(Histogram.decode(histogram.encode())) == figures(histogram)


@given(latencies, st.sampled_from([1, 25, 50, 75, 90, 99, 99.9, 100]))
def test_percentiles_are_nearest_rank_within_a_thousandth(values, percent):
    exact = np.percentile(values, percent, method="inverted_cdf")
    assert of(values).percentile(percent) == pytest.approx(exact, rel=1e-3, abs=0.5)


@given(latencies)
def test_percentiles_rise_within_min_and_max(values):
    histogram = of(values)
    points = [histogram.percentile(p) for p in (0, 10, 50, 90, 99, 99.99, 100)]
    assert points == sorted(points)
    assert histogram.min_us <= points[0]
    assert points[-1] <= histogram.max_us


@given(st.integers(0, 3_600_000_000), st.integers(1, 10_000))
def test_a_count_is_as_many_samples(value, count):
    counted = Histogram.from_counts(np.array([value]), np.array([count]))
    assert figures(counted) == figures(of([value] * count))


def test_the_library_reads_what_we_recorded():
    from hdrh.histogram import HdrHistogram

    theirs = HdrHistogram.decode(of(range(1, 5001)).encode(), b64_wrap=False)
    assert theirs.get_total_count() == 5000
    assert theirs.get_value_at_percentile(50) == of(range(1, 5001)).percentile(50)


def test_what_is_longer_than_an_hour_is_counted_at_the_hour():
    histogram = of([4_000_000_000])
    assert (histogram.count, histogram.clipped) == (1, 1)
    assert histogram.max_us == pytest.approx(3_600_000_000, rel=1e-3)


def test_an_empty_histogram_knows_nothing():
    empty = Histogram.decode(Histogram().encode())
    assert (empty.count, empty.percentile(50), empty.mean_us) == (0, None, None)


def test_a_negative_latency_is_refused():
    with pytest.raises(ValueError, match="expected at least 0"):
        of([-1])


def test_other_bytes_are_refused():
    with pytest.raises(ValueError, match="no HdrHistogram"):
        Histogram.decode(b"something else")
