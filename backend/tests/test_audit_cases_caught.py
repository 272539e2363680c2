"""Mistakes that the audit found caught, planted over the API: they must stay caught."""

import re

import pytest

from backend.testing.lab import CLIENT, SERVER, Lab
from backend.testing.made.printing import made_open_trial, made_trial, print_trial, print_trials

pytestmark = pytest.mark.django_db

RATES = (8_000.0, 8_080.0, 7_920.0)
SLOWER = (7_000.0, 7_070.0, 6_930.0)


@pytest.fixture(autouse=True)
def _files(settings, tmp_path):
    settings.DATA_DIR = tmp_path


@pytest.fixture
def lab():
    return Lab()


def texts(tool="wrk", **options):
    return {
        "alpha": print_trials(tool, RATES, **options),
        "beta": print_trials(tool, SLOWER, **options),
    }


@pytest.mark.parametrize(
    ("workload", "differing"),
    [({"payload_bytes": 10_000}, "payload"), ({"keepalive": False}, "keepalive"),
     ({"tls": True}, "tls")],
)  # fmt: skip
def test_declared_conditions_that_differ_withhold_the_ranking(lab, workload, differing):
    def declare(trial):
        trial["workload"] |= {"payload_bytes": 100, "tls": False}
        if trial["server"]["name"] == "beta":
            trial["workload"] |= workload

    lab.upload(texts(), edit=declare)
    answer = lab.ask()
    assert answer["ranking"] is None
    assert differing in answer["outcome"]["differing"]


def test_other_hardware_withholds_the_ranking(lab):
    lab.upload({"alpha": print_trials("wrk", RATES)})
    hosts = {"client": CLIENT, "server": {**SERVER, "cpu_model": "EPYC"}}
    lab.upload({"beta": print_trials("wrk", SLOWER)}, hosts=hosts)
    assert lab.ask()["ranking"] is None


def test_different_tools_withhold_the_ranking(lab):
    lab.upload({"alpha": print_trials("wrk", RATES)})
    lab.upload({"beta": print_trials("oha", SLOWER)}, tool="oha")
    assert lab.ask()["ranking"] is None


def failing(tool, status, share):
    """Outputs in which this share of the responses has the status."""
    trials = [made_trial(rate, seed=at) for at, rate in enumerate(RATES)]
    for trial in trials:
        trial.status[: round(share * trial.count)] = status
    return [print_trial(tool, trial) for trial in trials]


@pytest.mark.parametrize(("tool", "status", "share"), [("wrk", 500, 0.3), ("oha", 404, 1.0)])
def test_a_server_that_fails_is_not_ranked(lab, tool, status, share):
    lab.upload({**texts(tool), "failing": failing(tool, status, share)}, tool=tool)
    answer = lab.ask()
    assert answer.fired["error-rate-high"] == "error"
    assert answer.row("failing")["tier"] is None


def test_one_host_for_client_and_server_is_told(lab):
    lab.upload(texts(), same_host=True)
    assert lab.ask().fired["same-host"] == "warning"


def test_other_versions_of_the_tool_are_told(lab):
    def edit(trial):
        trial["load"]["tool_version"] = "4.2" if trial["server"]["name"] == "beta" else "4.1"

    lab.upload(texts(), edit=edit)
    assert any("4.1, 4.2" in reason for reason in lab.ask().reasons)


def test_a_steady_drift_is_told(lab):
    falling = [8_000 * (1 - 0.04 * at) for at in range(6)]
    lab.upload({"alpha": print_trials("wrk", falling)})
    assert lab.ask().fired["drift"] == "warning"


def test_a_busy_load_tool_is_told(lab):
    def edit(trial):
        trial["load"]["threads"] = 2
        trial["resources"] = {"client_cpu_s": 7.9}

    lab.upload(texts(), edit=edit)
    assert lab.ask().fired["load-tool-cpu"] == "warning"


def test_a_full_link_is_told(lab):
    def fill(text):
        return re.sub(r"[\d.]+MB read", "440.00MB read", text)

    slow = {**SERVER, "facts": {**SERVER["facts"], "nic_speed_mbit": 1_000}}
    outputs = {name: [fill(text) for text in each] for name, each in texts().items()}
    lab.upload(outputs, hosts={"client": CLIENT, "server": slow})
    assert lab.ask().fired["link-speed"] == "warning"


@pytest.mark.parametrize(("seconds", "is_short"), [(0.5, True), (1.8, True), (2.2, False)])
def test_a_trial_below_two_seconds_is_told(lab, seconds, is_short):
    lab.upload({"alpha": print_trials("wrk", RATES, seconds=seconds)})
    assert ("too-short" in lab.ask().fired) == is_short


def test_a_p99_of_a_hundred_requests_is_told(lab):
    lab.upload({"alpha": print_trials("oha", (25.0, 25.2, 24.8))}, tool="oha")
    assert lab.ask(metric="p99").fired["tail-samples"] == "warning"


def test_a_missed_rate_is_told(lab):
    trials = [made_open_trial(1_500, median_us=4_000, seed=at) for at in range(3)]
    lab.upload(
        {"alpha": [print_trial("vegeta", trial) for trial in trials]},
        tool="vegeta",
        connections=None,
        edit=lambda trial: trial["load"].update(rate_rps=2_000.0),
    )
    assert lab.ask(x="rate", metric="p99").fired["overload"] == "warning"


def test_connections_that_hang_are_told(lab):
    # Half of the connections never got a response, so half as many requests are in flight.
    halved = [
        re.sub(r"Latency +\S+", "Latency   0.60ms", text) for text in print_trials("wrk", RATES)
    ]
    lab.upload({"alpha": halved})
    assert lab.ask().fired["littles-law"] == "warning"


def test_a_rate_that_is_not_that_of_the_counts_is_told(lab):
    def raise_rate(figures):
        figures.rate_rps *= 1.2

    trials = [made_trial(rate, seed=at) for at, rate in enumerate(RATES)]
    lab.upload({"alpha": [print_trial("oha", trial, raise_rate) for trial in trials]}, tool="oha")
    assert lab.ask().fired["impossible-throughput"] == "error"


def test_ports_that_ran_out_are_told(lab):
    def edit(trial):
        trial["workload"]["keepalive"] = False

    lab.upload({"alpha": print_trials("wrk", RATES, seconds=6.0)}, edit=edit)
    assert lab.ask().fired["ephemeral-ports"] == "warning"
