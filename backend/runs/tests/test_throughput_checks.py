"""The checks of throughput fire only where rates, requests and Little's law disagree."""

from dataclasses import replace

import pytest

from backend.runs.checks.check_input import Claims, Evidence
from backend.runs.tests.sound_trial import SOUND, fired

DISAGREEMENTS = {"throughput-disagrees", "impossible-throughput"}


@pytest.mark.parametrize(
    ("logged_s", "asked_s", "is_missing"),
    [(5.0, 10.0, True), (9.2, 10.0, False), (0.2, 1.0, False), (5.0, None, False)],
)
def test_a_log_that_ends_before_the_time_that_was_asked_for_lacks_requests(
    logged_s, asked_s, is_missing
):
    evidence = Evidence(asked=Claims(duration_s=asked_s))
    log = replace(SOUND, elapsed_s=None, logged_s=logged_s, evidence=evidence)
    assert ("missing-requests" in fired(log)) is is_missing
    assert "missing-requests" not in fired(replace(log, incomplete=True))


def test_wrk_may_show_more_requests_in_flight_than_it_had_connections():
    corrected = replace(SOUND, latency_mean_us=2_000.0)
    assert "littles-law" in fired(corrected)
    assert "littles-law" not in fired(replace(corrected, tool="wrk"))
    assert "littles-law" in fired(replace(corrected, tool="wrk", latency_mean_us=500.0))


@pytest.mark.parametrize(
    "circumstance",
    [{"errors": {"timeout": 12}}, {"offered_rps": 8_000.0}, {"elapsed_s": 0.9}, {"loop": "open"}],
)
def test_littles_law_is_not_asked_where_connections_may_wait(circumstance):
    assert "littles-law" not in fired(replace(SOUND, latency_mean_us=300.0, **circumstance))


def test_a_rate_of_all_attempts_or_of_successes_does_not_contradict_the_counts():
    counts = {"requests_ok": 70_000, "goodput_rps": 7_000.0, "attempts_most": 90_000}
    failing = replace(SOUND, **counts, reported_rps=9_000.0, errors={"connect": 10_000})
    assert "impossible-throughput" not in fired(failing)
    assert "impossible-throughput" not in fired(replace(failing, reported_rps=7_000.0))
    assert "impossible-throughput" in fired(replace(failing, reported_rps=6_500.0))
    sampled = replace(failing, tool="bombardier", reported_rps=6_500.0)
    assert {"throughput-disagrees"} == fired(sampled) & DISAGREEMENTS
    assert {"impossible-throughput"} == fired(
        replace(sampled, reported_rps=2_000.0)
    ) & DISAGREEMENTS


def test_autocannon_prints_the_mean_of_its_whole_seconds():
    short = {"elapsed_s": 4.49, "requests_completed": 7_489, "throughput_rps": 1_667.9}
    printed = replace(SOUND, **short, tool="artillery", reported_rps=1_872.75)
    assert "throughput-disagrees" in fired(printed)
    assert "throughput-disagrees" not in fired(replace(printed, tool="autocannon"))


def test_seconds_without_responses_are_a_stall():
    seconds = (7_000.0, 8_000.0, 8_100.0, 12.0, 7_900.0, 8_000.0)
    assert "stall" in fired(replace(SOUND, second_rates_rps=seconds))
    # The first second opens the connections.
    assert "stall" not in fired(replace(SOUND, second_rates_rps=(12.0, 8_000.0, 8_100.0, 7_900.0)))
    # Where a response takes seconds, some seconds have none.
    slow = replace(SOUND, second_rates_rps=seconds, percentiles_us={"50": 2e6})
    assert "stall" not in fired(slow)


def test_an_open_loop_shows_a_stall_in_its_percentiles():
    assert "stall" not in fired(replace(SOUND, loop="open", latency_max_us=1_100_000.0))


def test_few_responses_a_second_differ_by_chance():
    few = (4.0, 6.0, 5.0, 3.0, 5.0, 4.0, 7.0, 5.0, 6.0)
    assert "unsteady" not in fired(replace(SOUND, second_rates_rps=few))


def test_coarse_means_are_given_their_rounding_in_littles_law():
    coarse = {"connections": 1, "throughput_rps": 2_000.0, "latency_mean_us": 0.0}
    facts = replace(SOUND, **coarse, latency_min_us=0.0, latency_resolution_us=1_000.0)
    assert "littles-law" not in fired(facts)


@pytest.mark.parametrize(
    ("seconds", "is_stall"),
    [
        # A second without answers that begins in the middle of a second.
        ((5_000.0, 8_000.0, 8_100.0, 4_050.0, 3_900.0, 8_000.0, 7_900.0), True),
        ((5_000.0, 8_000.0, 8_100.0, 6_000.0, 3_500.0, 8_000.0, 7_900.0), True),
        # Half a second.
        ((5_000.0, 8_000.0, 8_100.0, 6_000.0, 6_100.0, 8_000.0, 7_900.0), False),
        # It got slower, and did not stop.
        ((5_000.0, 8_000.0, 8_100.0, 8_000.0, 4_900.0, 4_800.0, 4_700.0), False),
        # So few answers vary by chance.
        ((50.0, 80.0, 81.0, 40.0, 39.0, 80.0, 79.0), False),
    ],
)
def test_a_stall_of_a_second_may_lie_across_two(seconds, is_stall):
    assert ("stall" in fired(replace(SOUND, second_rates_rps=seconds))) is is_stall


def test_a_log_without_an_elapsed_time_shows_a_slow_request():
    facts = {"elapsed_s": None, "logged_s": 10.0, "latency_max_us": 1_100_000.0}
    assert "stall" in fired(replace(SOUND, **facts))
