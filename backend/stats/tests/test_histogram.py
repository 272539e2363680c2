import threading
import weakref
import zlib

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from backend.stats import Histogram
from backend.stats.histogram import bucket_of

latencies = st.lists(st.integers(0, 3_600_000_000), min_size=1, max_size=200)


def of(values):
    return Histogram.from_samples(np.array(values, dtype=np.int64))


def figures(histogram):
    return histogram.count, [histogram.percentile(p) for p in (0, 50, 90, 99, 99.9, 100)]


@given(latencies, latencies, latencies)
def test_merging_is_associative_commutative_and_keeps_counts(a, b, c):
    one, two, three = of(a), of(b), of(c)
    merge = Histogram.merge_all
    left = merge([merge([one, two]), three])
    assert figures(left) == figures(merge([one, merge([two, three])]))
    assert figures(left) == figures(merge([three, two, one]))
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


weights = st.dictionaries(
    st.integers(0, 3_600_000_000), st.integers(1, 1 << 40), min_size=1, max_size=60
)


def of_weights(counted):
    return Histogram.from_counts(np.array([*counted]), np.array([*counted.values()]))


def library_of(counted):
    theirs = HdrHistogram(1, 3_600_000_000, 3, b64_wrap=False)
    for value, count in counted.items():
        assert theirs.record_value(value, count)
    return theirs


def same_payload(ours, theirs):
    return zlib.decompress(ours) == zlib.decompress(theirs)


@given(weights)
def test_what_we_compress_is_the_library_s_own(counted):
    assert same_payload(of_weights(counted).encode(), library_of(counted).encoder.encode())


@given(st.lists(st.integers(0, 1 << 40), min_size=1, max_size=200), st.integers(0, 40))
def test_a_bucket_has_the_values_that_the_library_says(values, power):
    near = [max(0, (1 << power) + step) for step in range(-2, 3)]
    theirs = HdrHistogram(1, 3_600_000_000, 3)
    clipped = [min(value, 3_600_000_000) for value in values + near]
    index = bucket_of(np.array(values + near, dtype=np.int64))
    assert index.tolist() == [theirs.get_counts_array_index(value) for value in clipped]


@given(weights)
def test_counts_of_buckets_are_counts_of_their_values(counted):
    whole = of_weights(counted)
    index, which = np.unique(bucket_of(np.array([*counted])), return_inverse=True)
    counts = np.zeros(len(index), dtype=np.int64)
    np.add.at(counts, which, [*counted.values()])
    assert Histogram.from_buckets(index, counts).encode() == whole.encode()


@given(weights)
def test_we_read_the_library_s_bytes_as_it_does(counted):
    encoded = library_of(counted).encoder.encode()
    ours, theirs = Histogram.decode(encoded), HdrHistogram.decode(encoded, b64_wrap=False)
    assert ours.count == theirs.total_count
    assert same_payload(ours.encode(), encoded)
    assert [ours.min_us, ours.max_us] == [
        theirs.get_lowest_equivalent_value(theirs.min_value),
        theirs.get_highest_equivalent_value(theirs.max_value),
    ]


@given(st.lists(weights, min_size=1, max_size=4))
def test_merged_counts_are_the_library_s_sum(parts):
    theirs = library_of(parts[0])
    for part in parts[1:]:
        theirs.add(library_of(part))
    merged = Histogram.merge_all(Histogram.decode(of_weights(part).encode()) for part in parts)
    assert same_payload(merged.encode(), theirs.encoder.encode())


@given(weights, st.lists(st.floats(0, 100), max_size=5))
def test_percentiles_asked_together_are_those_asked_alone(counted, percents):
    histogram = of_weights(counted)
    assert histogram.percentiles(percents) == [histogram.percentile(p) for p in percents]


def test_decoding_in_threads_mixes_nothing():
    wanted = [of([n] * n) for n in range(1, 9)]
    encoded = [one.encode() for one in wanted]
    read = [None] * len(encoded)

    def decode(position):
        for _ in range(50):
            read[position] = Histogram.decode(encoded[position])

    threads = [threading.Thread(target=decode, args=(n,)) for n in range(len(encoded))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [figures(one) for one in read] == [figures(one) for one in wanted]


def words(*tail, digits=3, length=None):
    """A payload as the library writes it, with other counts, precision or length."""
    payload = bytearray(zlib.decompress(of([1]).encode()))
    payload[12:16] = digits.to_bytes(4)
    payload[4:8] = (len(tail) if length is None else length).to_bytes(4)
    return zlib.compress(bytes(payload[:40]) + bytes(tail))


@pytest.mark.parametrize(
    "damaged",
    [
        words(2, 4, 0x80),  # ends within a word
        words(*[2] * 30_000),  # more counts than there are places
        words(*[0xFF] * 12),  # more zeros than any histogram has
        words(2, digits=2),  # another precision
        words(2, length=9),  # cut off
        zlib.compress(b"short"),
    ],
)
def test_damaged_bytes_are_refused_and_leave_nothing_behind(damaged):
    with pytest.raises(ValueError, match="no HdrHistogram"):
        Histogram.decode(damaged)
    assert figures(Histogram.decode(of([7]).encode())) == figures(of([7]))


def test_a_payload_without_counts_is_an_empty_histogram():
    assert Histogram.decode(words()).count == Histogram.decode(words(0)).count == 0


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


def test_a_sum_holds_one_summand_at_a_time():
    """One of an hour has 184 KB, and a cell may have 10,000."""
    alive, most = [], 0

    def summands():
        nonlocal most
        for latency in (100, 3_600_000_000, 5, 200):
            histogram = of([latency])
            alive.append(weakref.ref(histogram._counts))
            yield histogram
            del histogram
            most = max(most, sum(each() is not None for each in alive))

    merged = Histogram.merge_all(summands())
    assert (merged.count, merged.min_us) == (4, 5)
    assert most <= 2
