"""Every check fires on the fault it is named after, and is silent on a sound trial."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from backend.runs.checks import CHECKS, CheckInput, as_markdown, check_trial, withheld_metrics
from backend.runs.checks.check_input import Claims, Evidence
from backend.runs.tests.sound_trial import SOUND, fired

DOCS = Path(__file__).parents[3] / "docs" / "checks.md"

FAULTS = {
    "same-host": {"same_host": True},
    "error-rate": {"error_rate": 0.004, "errors": {"timeout": 320}},
    "error-rate-high": {"error_rate": 0.02, "attempts": 80_000, "failed": 1_600},
    "status-not-2xx": {"status_counts": {"200": 70_000, "503": 10_000}},
    "percentile-order": {"percentiles_us": {"50": 934.0, "90": 3_507.0, "99": 2_411.0}},
    "p99-equals-mean-or-max": {
        "latency_mean_us": 2_411.0,
        "percentiles_origin": "reported",
        "connections": 19,
    },
    "littles-law": {"latency_mean_us": 700.0},
    "throughput-disagrees": {"tool": "bombardier", "reported_rps": 8_300.0},
    "impossible-throughput": {"reported_rps": 8_300.0},
    "impossible-load": {"tool": "hey", "latency_mean_us": 1_600.0},
    "impossible-counts": {"status_counts": {"200": 80_001}},
    "partial-samples": {"partial_samples": "The rows hold 40 of its 80,000 requests."},
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
    "other-duration": {"evidence": Evidence(asked=Claims(duration_s=30.0))},
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
    "throughput-disagrees": {"tool": "bombardier", "reported_rps": 8_150.0},
    "impossible-throughput": {"reported_rps": 8_150.0},
    # oha sends several requests on a connection of HTTP/2.
    "impossible-load": {"latency_mean_us": 1_600.0},
    "impossible-counts": {"status_counts": {"200": 80_001}, "attempts_most": 80_001},
    "partial-samples": {"partial_samples": ""},
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
    # No attempt was made.
    "errors-unknown": {"error_rate": None, "attempts": 0, "failed": 0},
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
    "other-duration": {"evidence": Evidence(asked=Claims(duration_s=11.0))},
    "tick-rate": {"throughput_rps": 65.0, "latency_mean_us": 123_000.0},
    "compiling": {"server_runtime": "PyPy 2.1", "elapsed_s": 61.0},
    "answers-before-reading": {"server_settings": {"answers_before_reading": "no"}},
    "tool-disagrees": {"disagreements": ()},
}


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


def test_the_page_is_fresh():
    assert DOCS.read_text() == as_markdown()


def test_every_check_has_an_anchor_and_says_why():
    for id_, check in CHECKS.items():
        assert f'<a id="{id_}"></a>' in as_markdown()
        assert len(check.explanation) > 40
        assert check.source


def test_the_page_names_the_checks_that_are_no_basis_for_choosing():
    text = " · no basis for choosing a server"
    heads = re.findall(r"^`([a-z0-9-]+)` · .*", as_markdown(), re.MULTILINE)
    assert set(heads) == set(CHECKS)
    named = re.findall(rf"^`([a-z0-9-]+)` · .*{text}", as_markdown(), re.MULTILINE)
    assert set(named) == {id_ for id_, check in CHECKS.items() if check.is_no_basis}


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


def test_a_publication_without_a_number_of_errors_is_told():
    published = replace(SOUND, publication="A table", error_rate=None, requests_completed=None)
    assert "errors-unknown" in fired(published)
    assert "errors-unknown" not in fired(replace(published, error_rate=0.0))
