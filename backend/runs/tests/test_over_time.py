"""A long time series is pooled before it is answered."""

import numpy as np
import pytest

from backend.formats.model import TimeSlice
from backend.formats.read_trial import pack_slices
from backend.runs.models import TrialTimeline
from backend.runs.tables import over_time
from backend.stats import Histogram


def seconds_of(*slices):
    return TrialTimeline(packed=pack_slices(slices)).seconds


def second(start, *latencies_us, **more):
    histogram = Histogram.from_samples(np.array(latencies_us)).encode() if latencies_us else None
    known = {"completed": len(latencies_us), "failed": 0, "histogram": histogram, **more}
    return TimeSlice(start_s=float(start), length_s=1.0, **known)


@pytest.fixture(autouse=True)
def shown(monkeypatch):
    monkeypatch.setattr(over_time, "MOST_SHOWN", 2)


def test_neighbours_are_one_stretch_with_the_latency_of_all_their_requests():
    first, rest = seconds_of(second(0, 100, 200), second(1), second(2, 300))
    assert first["completed"] == 2
    assert (first["start_s"], first["length_s"], rest["start_s"], rest["length_s"]) == (0, 2, 2, 1)
    assert (first["p50_us"], first["max_us"], rest["p50_us"]) == (100, 200, 300)
    whole, _ = seconds_of(*(second(at, at + 100) for at in range(4)))
    assert (whole["p50_us"], whole["max_us"]) == (100, 101)


def test_what_is_unknown_of_one_is_unknown_of_the_stretch():
    printed = {"histogram": None, "percentiles": {"99": 5.0}}
    first, last = seconds_of(second(0, 100), second(1, completed=None), second(2, **printed))
    assert (first["completed"], first["failed"], first["p99_us"]) == (None, 0, 100)
    assert last["p99_us"] is None


def test_as_many_as_are_shown_stay_as_they_are():
    printed = second(0, histogram=None, percentiles={"99": 5.0})
    assert [each["p99_us"] for each in seconds_of(printed, second(1, 7))] == [5.0, 7.0]
