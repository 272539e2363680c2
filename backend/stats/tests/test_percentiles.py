"""The percentiles that are stored are the histogram's own."""

import numpy as np

from backend.stats import Histogram
from backend.stats.histogram import STORED_PERCENTILES, stored_percentiles


def test_each_stored_percentile_is_the_histograms():
    histogram = Histogram.from_samples(np.arange(1, 10_001))
    stored = stored_percentiles(histogram)
    assert tuple(stored) == STORED_PERCENTILES
    assert stored == {key: histogram.percentile(float(key)) for key in STORED_PERCENTILES}


def test_an_empty_histogram_has_none():
    assert set(stored_percentiles(Histogram()).values()) == {None}
