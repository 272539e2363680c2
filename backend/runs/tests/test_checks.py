"""Every check fires on the fault it is named after, and is silent on a sound trial."""

from dataclasses import replace
from pathlib import Path

import pytest

from backend.runs.checks import (
    CHECKS,
    CheckInput,
    as_markdown,
    check_cell,
    check_trial,
    withheld_metrics,
)

DOCS = Path(__file__).parents[3] / "docs" / "checks.md"

# 8 connections × 1 000 requests/s each at 1 ms: everything fits together.
SOUND = CheckInput(
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
    "p99-equals-mean-or-max": {"latency_mean_us": 2_411.0},
    "littles-law": {"latency_mean_us": 700.0},
    "throughput-disagrees": {"reported_rps": 8_300.0},
    "resolution": {"latency_resolution_us": 1_000.0},
    "tail-samples": {"requests_completed": 999, "requests_ok": 999},
    "too-short": {"elapsed_s": 0.9},
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
    "tool-disagrees": {"disagreements": ("Counts by status add up to 79 999, not 80 000.",)},
}

# Near misses: the same field, on the harmless side.
HARMLESS = {
    "same-host": {"same_host": None},
    "error-rate": {"error_rate": None},
    "error-rate-high": {"error_rate": 0.01},
    "status-not-2xx": {"status_counts": {"200": 79_999, "503": 1}, "requests_ok": 79_999},
    "percentile-order": {"latency_max_us": 5_020.0},  # p99.9 is 5 023: a histogram's rounding
    "p99-equals-mean-or-max": {"latency_max_us": 2_411.0, "requests_completed": 150},
    "littles-law": {"latency_mean_us": 790.0},
    "throughput-disagrees": {"reported_rps": 8_150.0},
    "resolution": {"latency_resolution_us": 90.0},
    "tail-samples": {"requests_completed": 1_000},
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


def test_nothing_known_fires_only_what_is_unknown():
    assert fired(CheckInput()) == {"unknown-server-version", "unknown-host"}


def test_p99_equal_to_the_maximum_fires_only_where_it_is_suspicious():
    equal = replace(SOUND, latency_max_us=2_411.0, percentiles_us={"50": 934.0, "99": 2_411.0})
    assert "p99-equals-mean-or-max" in fired(equal)
    assert "p99-equals-mean-or-max" not in fired(replace(equal, latency_resolution_us=1_000.0))


def test_a_reported_tail_needs_its_requests_too():
    reported = replace(SOUND, percentiles_origin="reported", requests_completed=9_999)
    assert "tail-samples" in fired(reported)
    assert "tail-samples" not in fired(replace(reported, requests_completed=10_000))


def test_ports_are_counted_against_the_hosts_own_range():
    short = replace(SOUND, keepalive=False, elapsed_s=3.0, local_ports=(50_000, 60_000))
    assert "ephemeral-ports" in fired(short)


def test_coarse_means_are_given_their_rounding_in_littles_law():
    coarse = {"connections": 1, "throughput_rps": 2_000.0, "latency_mean_us": 0.0}
    facts = replace(SOUND, **coarse, latency_min_us=0.0, latency_resolution_us=1_000.0)
    assert "littles-law" not in fired(facts)


def trials(*rates):
    warmup = replace(SOUND, warmup=True, throughput_rps=1.0)
    return [warmup, *(replace(SOUND, throughput_rps=rate) for rate in rates)]


def cell_ids(facts, **options):
    return {finding.id for finding in check_cell(facts, **options)}


def test_a_steady_cell_is_silent():
    assert cell_ids(trials(8_000.0, 7_950.0, 8_100.0)) == set()


@pytest.mark.parametrize(
    ("id_", "facts"),
    [
        ("few-trials", trials(8_000.0, 8_010.0)),
        ("few-trials", [*trials(8_000.0, 8_010.0), CheckInput(exit_code=1)]),
        ("spread", trials(8_000.0, 7_700.0, 8_200.0)),
        ("drift", trials(8_000.0, 7_800.0, 7_500.0)),
        ("drift", trials(8_000.0, 8_200.0, 8_500.0)),
    ],
)
def test_a_cell_fires(id_, facts):
    assert id_ in cell_ids(facts)
    assert id_ in CHECKS


def test_trials_that_tell_something_are_not_few_although_no_throughput_is_known():
    assert cell_ids(trials(None, None, None, None)) == set()
    silent = replace(SOUND, throughput_rps=None, error_rate=None, percentiles_us={})
    assert "few-trials" in cell_ids([silent] * 4)


def test_a_missing_warmup_fires_only_when_it_is_known_to_be_missing():
    facts = trials(8_000.0, 7_950.0, 8_100.0)
    assert "no-warmup" in cell_ids(facts, warmed_up=False)
    assert "no-warmup" not in cell_ids(facts, warmed_up=True)


def test_a_small_drift_and_a_zigzag_are_silent():
    assert "drift" not in cell_ids(trials(8_000.0, 7_900.0, 7_800.0))
    assert "drift" not in cell_ids(trials(8_000.0, 7_000.0, 7_500.0))


def test_the_workspace_may_ask_for_more_trials():
    assert "few-trials" in cell_ids(trials(8_000.0, 7_990.0, 8_010.0), min_trials=5)


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
