"""What a trial's throughput is made of: the counts, else the rate that the tool printed."""

import pytest

from backend.formats.model import ParsedTrial, ReadTrial
from backend.runs.measured import TrialRecord, check_input_of, load_point, throughput_origin
from backend.runs.models import Run


def throughput(**figures):
    parsed = ParsedTrial(tool="k6", **figures)
    reading = ReadTrial(parsed=parsed)
    record = TrialRecord(ordinal=0, server={}, workload={}, load={}, reading=reading)
    return check_input_of(record, load_point(record), Run()).throughput_rps


COUNTS = {"requests_completed": 100, "requests_ok": 100, "reported_rps": 40.0}


def test_counts_and_time_come_before_the_printed_rate():
    assert throughput(**COUNTS, elapsed_s=2.0) == 50.0


def test_the_exact_time_comes_before_the_printed_time():
    assert throughput(**COUNTS, elapsed_s=2.5, exact_elapsed_s=2.0) == 50.0


def test_without_a_time_the_printed_rate_is_the_throughput():
    assert throughput(**COUNTS) == 40.0
    assert throughput(reported_rps=40.0) == 40.0
    assert throughput(reported_rps=40.0, elapsed_s=3.0) == 40.0


@pytest.mark.parametrize(
    "figures",
    [
        {**COUNTS, "elapsed_s": 2.0, "requests_completed": None},
        # Some attempts failed; whether they were answered is not known.
        {**COUNTS, "requests_completed": None},
        {**COUNTS, "errors": {"connect": 3}},
        {"requests_completed": 100},
    ],
)
def test_a_rate_that_may_count_attempts_without_response_is_no_throughput(figures):
    assert throughput(**figures) is None


def test_a_throughput_without_count_or_time_is_reported():
    assert throughput_origin(40.0, 100, None) == "reported"
    assert throughput_origin(40.0, None, 2.5) == "reported"
    assert throughput_origin(40.0, 100, 2.5) == "computed"
    assert throughput_origin(None, 100, 2.5) is None
