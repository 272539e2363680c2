"""What a trial's throughput is made of: the counts, else the rate that the tool printed."""

import pytest

from backend.formats.model import Latency, ParsedTrial
from backend.formats.read_trial import ReadTrial
from backend.runs.checks.outcome import OUTCOME_RULES
from backend.runs.measured.measured import (
    TrialRecord,
    check_input_of,
    load_point,
    throughput_origin,
)
from backend.runs.models import Run


def measured(**figures):
    parsed = ParsedTrial(tool="k6", **figures)
    reading = ReadTrial.of(parsed)
    record = TrialRecord(ordinal=0, server={}, workload={}, load={}, reading=reading)
    return check_input_of(record, load_point(record), Run())


def throughput(**figures):
    return measured(**figures).throughput_rps


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
        {"reported_rps": 40.0, "attempts": 100, "failed": 3},
        {"requests_completed": 100},
    ],
)
def test_a_rate_that_may_count_attempts_without_response_is_no_throughput(figures):
    assert throughput(**figures) is None


def figures_of_csv(*, ok=60, load=None, command=()):
    """Of a CSV of hey with 60 answers."""
    parsed = ParsedTrial(
        tool="hey",
        requests_completed=60,
        requests_ok=ok,
        errors={"status": 60 - ok},
        lists_answers_only=True,
        latency=Latency(percentiles={"50": 800.0}),
    )
    reading = ReadTrial.of(parsed)
    record = TrialRecord(
        ordinal=0, server={}, workload={}, load=load or {}, reading=reading, command=command
    )
    return check_input_of(record, load_point(record), Run())


def fired(figures):
    return {rule.id: detail for rule in OUTCOME_RULES if (detail := rule.find(figures))}


@pytest.mark.parametrize("load", [{}, {"requests": 100}, {"duration_s": 5}])
def test_answers_alone_leave_the_error_rate_unknown(load):
    figures = figures_of_csv(load=load)
    assert figures.error_rate is None
    assert (figures.requests_ok, figures.errors["connect"]) == (60, None)
    assert fired(figures)["errors-unknown"].startswith("The output lists 60 requests that were")


def test_as_many_answers_as_requests_prove_that_all_were_answered():
    assert figures_of_csv(load={"requests": 60}).error_rate == 0
    command = ["hey", "-n", "60", "-c", "5", "-o", "csv", "http://127.0.0.1/"]
    figures = figures_of_csv(ok=57, command=command)
    assert figures.error_rate == 0.05
    assert (figures.errors["connect"], figures.errors["status"]) == (0, 3)


def test_failed_answers_count_although_the_error_rate_is_unknown():
    figures = figures_of_csv(ok=54)
    assert figures.error_rate is None
    assert fired(figures)["error-rate-high"] == "At least 10 % of the attempts failed (status 6)."


PERCENTILES = Latency(percentiles={"50": 800.0})


def test_printed_failures_make_the_error_rate_although_nobody_knows_who_was_answered():
    figures = measured(attempts=400, failed=90, requests_ok=310, latency=PERCENTILES)
    assert (figures.error_rate, figures.goodput_rps) == (0.225, None)
    assert fired(figures) == {
        "error-rate-high": "22.5 % of the attempts failed (90 of 400).",
    }
    few = measured(attempts=400, failed=2, requests_ok=398, latency=PERCENTILES)
    assert fired(few) == {"error-rate": "0.5 % of the attempts failed (2 of 400)."}


def test_where_classes_overlap_the_known_failures_are_the_least():
    figures = measured(requests_completed=90, errors={"status": 9, "read": 10}, latency=PERCENTILES)
    details = fired(figures)
    assert details["error-rate-high"] == (
        "At least 19 % of the attempts failed (read 10, status 9)."
    )
    assert "errors-unknown" in details


def test_figures_without_a_number_of_failures_are_told():
    assert fired(measured(latency=PERCENTILES)) == {
        "errors-unknown": "The output has no number of failed requests.",
    }


def test_a_throughput_without_count_or_time_is_reported():
    assert throughput_origin(40.0, 100, None) == "reported"
    assert throughput_origin(40.0, None, 2.5) == "reported"
    assert throughput_origin(40.0, 100, 2.5) == "computed"
    assert throughput_origin(None, 100, 2.5) is None
