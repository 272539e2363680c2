"""Every check fires on the fault it is named after, and is silent on a sound trial."""

from dataclasses import replace
from pathlib import Path

import pytest

from backend.runs.checks import (
    CHECKS,
    CheckInput,
    as_markdown,
    check_trial,
    withheld_metrics,
)
from backend.runs.checks.check_input import Claims, Evidence

DOCS = Path(__file__).parents[3] / "docs" / "checks.md"

# 8 connections × 1 000 requests/s each at 1 ms: everything fits together.
SOUND = CheckInput(
    tool="oha",
    loop="closed",
    connections=8,
    keepalive=True,
    elapsed_s=10.0,
    requests_completed=80_000,
    requests_ok=80_000,
    throughput_rps=8_000.0,
    reported_rps=8_010.0,
    error_rate=0.0,
    errors={"connect": 0, "timeout": None},
    status_counts={"200": 80_000},
    latency_mean_us=1_003.0,
    latency_min_us=211.0,
    latency_max_us=9_137.0,
    percentiles_us={"50": 934.0, "90": 1_507.0, "99": 2_411.0, "99.9": 5_023.0},
    percentiles_origin="computed",
    latency_resolution_us=1.0,
    server_version="23.0",
    host_known=True,
    same_host=False,
    exit_code=0,
)

FAULTS = {
    "same-host": {"same_host": True},
    "error-rate": {"error_rate": 0.004, "errors": {"timeout": 320}},
    "error-rate-high": {"error_rate": 0.02},
    "status-not-2xx": {"status_counts": {"200": 70_000, "503": 10_000}},
    "percentile-order": {"percentiles_us": {"50": 934.0, "90": 3_507.0, "99": 2_411.0}},
    "p99-equals-mean-or-max": {
        "latency_mean_us": 2_411.0,
        "percentiles_origin": "reported",
        "connections": 19,
    },
    "littles-law": {"latency_mean_us": 700.0},
    "throughput-disagrees": {"reported_rps": 8_300.0},
    "resolution": {"latency_resolution_us": 1_000.0},
    "tail-samples": {"requests_completed": 999, "requests_ok": 999},
    "far-tail-samples": {"requests_completed": 9_999, "requests_ok": 9_999},
    "delayed-ack": {
        "percentiles_us": {"50": 934.0, "90": 40_911.0, "95": 41_203.0, "99": 43_911.0},
        "latency_max_us": 51_000.0,
    },
    "stall": {"latency_max_us": 1_100_000.0},
    "missing-requests": {"requests_asked": 100_000},
    "client-cores": {"client_core_shares": (0.97, 1.0, 0.99, 0.96)},
    "cpu-steal": {"client_steal": 0.3},
    "other-programs": {
        "client_core_shares": (0.9, 0.9, 0.9, 0.9),
        "client_irq": 0.1,
        "watched_s": 10.0,
        "client_cpu_s": 6.0,
        "services_cpu_s": 0.0,
    },
    "no-answers": {"requests_completed": 0, "requests_ok": 0, "error_rate": None},
    "hung-server": {"answers_after": False},
    "cpu-governor": {"governors": {"client": "performance", "server": "powersave"}},
    "development-mode": {"server_texts": ("3.0", "WARNING: This is a development server.")},
    "too-short": {"elapsed_s": 1.99},
    "incomplete": {"incomplete": True},
    "exit-code": {"exit_code": 104},
    "unknown-server-version": {"server_version": None},
    "unknown-host": {"host_known": False},
    "session-part": {"session_parts": 3},
    "ephemeral-ports": {"keepalive": False},
    "link-speed": {"transfer_rate_bytes_s": 110e6, "link_bits_s": 1e9},
    "load-tool-cpu": {"client_cpu_s": 8.5},
    "errors-unknown": {"error_rate": None},
    "unsteady": {"second_rates_rps": (9_000.0,) * 4 + (8_500.0,) * 3 + (7_500.0,) * 4},
    "clock-tick": {
        "latency_min_us": 10_000.0,
        "latency_max_us": 400_000.0,
        "percentiles_us": {"50": 20_000.0, "99": 30_000.0},
        "latency_mean_us": 21_000.0,
        "connections": 168,
    },
    "two-populations": {"latency_mean_us": 1_900.0, "connections": 15},
    "overload": {"loop": "open", "offered_rps": 9_000.0},
    "published-figures": {"publication": "A table, 2011, page 3"},
    "request-limit": {
        "tool": "ab",
        "requests_completed": 50_000,
        "elapsed_s": 6.2,
        "evidence": Evidence(asked=Claims(duration_s=10.0)),
    },
    "tick-rate": {"throughput_rps": 64.06, "latency_mean_us": 124_800.0},
    "compiling": {"server_runtime": "PyPy 2.1"},
    "answers-before-reading": {"server_settings": {"answers_before_reading": "yes"}},
    "tool-disagrees": {"disagreements": ("Counts by status add up to 79 999, not 80 000.",)},
}

# Near misses: the same field, on the harmless side.
HARMLESS = {
    "same-host": {"same_host": None},
    "error-rate": {"error_rate": None},
    "error-rate-high": {"error_rate": 0.01},
    "status-not-2xx": {"status_counts": {"200": 79_999, "503": 1}, "requests_ok": 79_999},
    "percentile-order": {"latency_max_us": 5_020.0},  # p99.9 is 5 023: a histogram's rounding
    # Loadsheet computed both from one histogram: they are one bucket.
    "p99-equals-mean-or-max": {
        "latency_max_us": 2_411.0,
        "percentiles_us": {"50": 934.0, "99": 2_411.0},
    },
    "littles-law": {"latency_mean_us": 790.0},
    "throughput-disagrees": {"reported_rps": 8_150.0},
    "resolution": {"latency_resolution_us": 90.0},
    "tail-samples": {"requests_completed": 1_000},
    "far-tail-samples": {"requests_completed": 10_000},
    "delayed-ack": {"percentiles_us": {"50": 30_100.0, "90": 40_100.0, "95": 42_900.0}},
    # A slow request, but p99 is of its size.
    "stall": {"latency_max_us": 1_100_000.0, "percentiles_us": {"50": 934.0, "99": 80_000.0}},
    "missing-requests": {"requests_asked": 81_000},
    "client-cores": {"client_core_shares": (1.0, 1.0, 0.4, 1.0)},
    "cpu-steal": {"client_steal": 0.03},
    # The server's work is on the same cores.
    "other-programs": {
        "client_core_shares": (0.9, 0.9, 0.9, 0.9),
        "client_irq": 0.1,
        "watched_s": 10.0,
        "client_cpu_s": 6.0,
        "services_cpu_s": 0.0,
        "server_cpu_s": 18.5,
        "same_host": True,
    },
    "no-answers": {"requests_completed": None},
    "hung-server": {"answers_after": True},
    "cpu-governor": {"governors": {"client": "performance"}},
    "development-mode": {"server_texts": ("1.2-bugfix", "log=debugger off", "--workers=4")},
    "too-short": {"elapsed_s": None},
    "incomplete": {"incomplete": False},
    "exit-code": {"exit_code": None},
    "link-speed": {"transfer_rate_bytes_s": 110e6, "link_bits_s": 10e9},
    "load-tool-cpu": {"client_cpu_s": 15.0, "client_threads": 2},
    "errors-unknown": {"error_rate": None, "requests_completed": None},
    "unsteady": {"second_rates_rps": (9_000.0, 7_000.0, 8_000.0) * 4},
    "unknown-server-version": {"server_version": "0"},
    "unknown-host": {"host_known": True},
    "ephemeral-ports": {"keepalive": False, "elapsed_s": 3.0},
    "clock-tick": {"latency_resolution_us": 20_000.0},
    "two-populations": {"latency_mean_us": 1_800.0},
    "overload": {"loop": "open", "offered_rps": 8_100.0},
    "published-figures": {"publication": ""},
    "request-limit": {
        "tool": "ab",
        "requests_completed": 50_000,
        "elapsed_s": 10.0,
        "evidence": Evidence(asked=Claims(duration_s=10.0)),
    },
    "tick-rate": {"throughput_rps": 65.0, "latency_mean_us": 123_000.0},
    "compiling": {"server_runtime": "PyPy 2.1", "elapsed_s": 61.0},
    "answers-before-reading": {"server_settings": {"answers_before_reading": "no"}},
    "tool-disagrees": {"disagreements": ()},
}


def fired(facts):
    return {finding.id for finding in check_trial(facts)}


def test_a_sound_trial_is_silent():
    assert fired(SOUND) == set()


@pytest.mark.parametrize("id_", FAULTS)
def test_fires(id_):
    facts = replace(SOUND, **FAULTS[id_])
    finding = next(one for one in check_trial(facts) if one.id == id_)
    assert finding.detail.endswith(".")
    assert id_ in CHECKS


@pytest.mark.parametrize("id_", HARMLESS)
def test_is_silent(id_):
    assert id_ not in fired(replace(SOUND, **HARMLESS[id_]))


@pytest.mark.parametrize(
    ("known", "share"),
    [
        ({}, "55 %"),
        ({"client_steal": 0.25}, "30 %"),
        # Interrupts are not recorded: up to 30 % may be theirs.
        ({"client_irq": None}, "35 %"),
        # The server is on the host of the load tool.
        ({"same_host": True, "server_cpu_s": 8.0}, "35 %"),
        ({"same_host": True, "server_cpu_s": None}, None),
        ({"services_cpu_s": 8.0}, "35 %"),
        ({"services_cpu_s": None}, None),
        ({"same_host": None}, None),
        ({"client_cpu_s": None}, None),
        ({"watched_s": None}, None),
    ],
)
def test_the_work_of_other_programs_is_what_load_tool_and_server_leave(known, share):
    busy = {
        "client_core_shares": (0.8, 0.8, 0.8, 0.8),
        "client_irq": 0.1,
        "watched_s": 10.0,
        "client_cpu_s": 6.0,
        "services_cpu_s": 0.0,
    }
    findings = {
        finding.id: finding.detail for finding in check_trial(replace(SOUND, **(busy | known)))
    }
    if share is None:
        assert "other-programs" not in findings
    else:
        assert f" used {share} of the processor time" in findings["other-programs"]


def test_nothing_known_fires_only_what_is_unknown():
    assert fired(CheckInput()) == {"unknown-server-version", "unknown-host"}


def test_p99_equal_to_the_maximum_fires_only_where_they_must_differ():
    equal = replace(
        SOUND,
        percentiles_origin="reported",
        latency_max_us=2_411.0,
        percentiles_us={"50": 934.0, "99": 2_411.0},
    )
    assert "p99-equals-mean-or-max" in fired(equal)
    # The tool prints whole milliseconds, as ab does.
    assert "p99-equals-mean-or-max" not in fired(replace(equal, latency_resolution_us=1_000.0))
    # Every request takes the same time.
    same = replace(equal, percentiles_us={"50": 2_400.0, "99": 2_411.0})
    assert "p99-equals-mean-or-max" not in fired(same)


def test_locust_rounds_percentiles_to_two_digits():
    printed = replace(
        SOUND,
        percentiles_origin="reported",
        latency_resolution_us=1_000.0,
        latency_max_us=126_000.0,
        percentiles_us={"50": 19_000.0, "99": 130_000.0},
    )
    assert "percentile-order" in fired(printed)
    assert "percentile-order" not in fired(replace(printed, tool="locust"))


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


@pytest.mark.parametrize(
    ("step", "figures"),
    [
        # Ticks of 15.625 ms as ab rounds them, as autocannon cuts them off, and as hey prints them.
        (1_000.0, (16, 31, 47, 63, 94)),
        (1_000.0, (15, 31, 46, 62, 93)),
        (100.0, (15.6, 31.3, 46.9, 62.5, 93.8)),
        (1.0, (1, 2, 3, 4, 9)),
    ],
)
def test_a_clock_tick_is_seen_through_the_tools_rounding(step, figures):
    assert "clock-tick" in fired(ticking(step, figures))


@pytest.mark.parametrize(
    ("step", "figures"),
    [
        (1_000.0, (16, 31, 47, 58, 94)),
        # Two multiples of 10 ms are no evidence, where a tool prints whole milliseconds.
        (1_000.0, (10, 10, 20, 20, 20)),
        (1_000.0, (1, 2, 3, 4, 9)),
    ],
)
def test_figures_that_are_no_ticks_are_silent(step, figures):
    assert "clock-tick" not in fired(ticking(step, figures))


def ticking(step_us, figures_ms):
    first, *percentiles, last = (figure * 1_000.0 for figure in figures_ms)
    return replace(
        SOUND,
        percentiles_origin="reported",
        latency_resolution_us=step_us,
        latency_min_us=first,
        latency_max_us=last,
        percentiles_us=dict(zip(("50", "90", "99"), percentiles, strict=True)),
    )


def test_a_tail_needs_its_requests_also_where_it_is_computed():
    for origin in ("reported", "computed"):
        trial = replace(SOUND, percentiles_origin=origin, requests_completed=9_999)
        assert "far-tail-samples" in fired(trial)
        assert "far-tail-samples" not in fired(replace(trial, requests_completed=10_000))


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
    failing = replace(SOUND, reported_rps=9_000.0, errors={"connect": 10_000}, goodput_rps=7_000.0)
    assert "throughput-disagrees" not in fired(failing)
    assert "throughput-disagrees" not in fired(replace(failing, reported_rps=7_000.0))
    assert "throughput-disagrees" in fired(replace(failing, reported_rps=6_500.0))


def test_autocannon_prints_the_mean_of_its_whole_seconds():
    short = {"elapsed_s": 4.49, "requests_completed": 7_489, "throughput_rps": 1_667.9}
    printed = replace(SOUND, **short, reported_rps=1_872.75)
    assert "throughput-disagrees" in fired(printed)
    assert "throughput-disagrees" not in fired(replace(printed, tool="autocannon"))


def test_a_median_of_nothing_is_said_to_be_below_the_step():
    rounded = replace(SOUND, percentiles_us={"50": 0.0}, latency_resolution_us=1_000.0)
    details = {finding.id: finding.detail for finding in check_trial(rounded)}
    assert "the typical latency is < 1 ms" in details["resolution"]


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


@pytest.mark.parametrize(
    "text",
    [
        "1.4.2-debug",
        "CMAKE flags: -O0 -g",
        "./target/debug/server",
        "environment=development NODE_ENV=development",
        "DEBUG=True",
        "command=uvicorn app:app --reload",
        "server: Werkzeug/2.3",
    ],
)
def test_a_server_for_development_is_recognised(text):
    assert "development-mode" in fired(replace(SOUND, server_texts=(text,)))


def test_ports_are_counted_against_the_hosts_own_range():
    short = replace(SOUND, keepalive=False, elapsed_s=3.0, local_ports=(50_000, 60_000))
    assert "ephemeral-ports" in fired(short)


def test_coarse_means_are_given_their_rounding_in_littles_law():
    coarse = {"connections": 1, "throughput_rps": 2_000.0, "latency_mean_us": 0.0}
    facts = replace(SOUND, **coarse, latency_min_us=0.0, latency_resolution_us=1_000.0)
    assert "littles-law" not in fired(facts)


def test_the_page_is_fresh():
    assert DOCS.read_text() == as_markdown()


def test_every_check_has_an_anchor_and_says_why():
    for id_, check in CHECKS.items():
        assert f'<a id="{id_}"></a>' in as_markdown()
        assert len(check.explanation) > 40
        assert check.source


def test_every_error_withholds_figures_and_nothing_else_does():
    for check in CHECKS.values():
        assert (check.severity == "error") == (check.withholds is not None)


def test_withheld_metrics_name_the_check_that_forbids_them():
    latency_only = withheld_metrics(["spread", "percentile-order", "a-check-of-2030"])
    assert {group: check.id for group, check in latency_only.items()} == {
        "latency": "percentile-order"
    }
    everything = withheld_metrics(["percentile-order", "incomplete"])
    assert {group: check.id for group, check in everything.items()} == {
        "latency": "percentile-order",
        "rate": "incomplete",
        "resources": "incomplete",
    }
    assert withheld_metrics(["spread", "overload"]) == {}


def test_a_published_rate_without_a_time_takes_a_port_for_each_request():
    published = replace(SOUND, publication="A table", keepalive=False, elapsed_s=None)
    assert "ephemeral-ports" in fired(replace(published, requests_completed=40_000))
    assert "ephemeral-ports" not in fired(replace(published, requests_completed=20_000))
    assert "ephemeral-ports" not in fired(replace(published, requests_completed=None))


def test_a_publication_without_a_number_of_errors_is_told():
    published = replace(SOUND, publication="A table", error_rate=None, requests_completed=None)
    assert "errors-unknown" in fired(published)
    assert "errors-unknown" not in fired(replace(published, error_rate=0.0))
