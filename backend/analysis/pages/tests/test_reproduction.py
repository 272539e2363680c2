"""What a run page gives to carry a run out again."""

import hashlib

import pytest

from backend.analysis.pages.reproduction import describe_reproduction
from backend.analysis.pages.resource_use import list_resource_figures, resource_columns
from backend.runs.models import Run

PLAN = 'order = "randomised"\nseed = 7\n[load]\ntool = "wrk"\n'
LONG_NUMBER = "a = " + "1" * 5000


def run_of(plan=PLAN, **fields):
    sha256 = hashlib.sha256(plan.encode()).hexdigest()
    return Run(**{"plan": plan, "plan_sha256": sha256, **fields})


def test_a_run_without_a_plan_cannot_be_carried_out_again():
    assert describe_reproduction(run_of(""), []) is None


def test_plan_order_seed_and_programs():
    run = run_of(
        seed=7,
        agent={"name": "loadsheet-agent", "version": "0.1.0", "hostname": "bench"},
        facts={"client": {"tool_sha256": "ab" * 32}},
    )
    found = describe_reproduction(run, ["wrk 4.2.0", "wrk 4.2.0"])
    assert (found.order, found.seed, found.is_whole) == ("randomised", 7, True)
    assert found.agent == "loadsheet-agent 0.1.0"
    assert (found.tools, found.tool_sha256) == (("wrk 4.2.0",), "ab" * 32)
    assert not found.has_redactions


def test_what_nobody_said_is_unknown():
    found = describe_reproduction(run_of("[load]"), [])
    assert (found.seed, found.agent, found.tool_sha256) == (None, None, None)
    assert found.order == "interleaved"


@pytest.mark.parametrize("plan", ["not = = toml", "x" * 9, "a = " + "[" * 5000, LONG_NUMBER])
def test_a_plan_that_is_no_toml_has_no_order(plan):
    assert describe_reproduction(run_of(plan), []).order is None


def test_a_plan_that_was_changed_on_its_way_is_told():
    assert not describe_reproduction(run_of(plan_sha256="0" * 64), []).is_whole


def test_a_plan_with_secrets_taken_out_is_told():
    assert describe_reproduction(run_of('[x]\nAuthorization = "[redacted]"'), []).has_redactions


RESOURCES = {
    "client_cores": 2,
    "client_cpu_per_core": [0.91, 0.4],
    "client_cpu_steal": 0.003,
    "server_rss_peak_bytes": 40_000_000,
    "server_cpu_s": None,
    "time_wait_peak": 12,
    "disk_reads": 3,
}


def test_resources_by_server_and_client():
    server, client = list_resource_figures(RESOURCES)
    figures = {one.id: one for one in (*server.figures, *client.figures)}
    assert figures["resource-server_rss_peak_bytes"].value == 40_000_000
    assert not figures["resource-server_cpu_s"].is_known
    assert figures["resource-client_cpu_per_core"].value == [0.91, 0.4]
    assert figures["resource-disk_reads"].label == "disk reads"
    assert resource_columns(RESOURCES)["busiest_core"] == 0.91


def test_a_server_that_the_plan_did_not_start_has_no_group():
    (client,) = list_resource_figures({"client_cpu_s": 1.5})
    assert client.id == "resources-client"
    assert list_resource_figures({}) == []


@pytest.mark.parametrize("odd", ["much", [1], {"a": 1}, True])
def test_a_figure_of_another_kind_is_unknown(odd):
    found = resource_columns({"server_rss_peak_bytes": odd, "client_cpu_per_core": odd})
    assert found["server_rss_peak_bytes"] is None
    assert found["busiest_core"] == (1 if odd == [1] else None)
