"""The output held against the envelope, from the upload to the checks of the trial."""

from dataclasses import replace
from pathlib import Path

import pytest

from backend import formats
from backend.formats import RawArtefact, parse
from backend.ingest.queue.worker import process
from backend.runs.checks import CheckInput
from backend.runs.checks.check_input import Claims, Evidence
from backend.runs.checks.contradictions import is_loopback
from backend.runs.models import Trial
from backend.runs.tests.sound_trial import SOUND, fired
from backend.testing.uploads import AB, WRK, make_envelope, make_tenant, make_trial, make_upload

WORKLOAD = {"name": "hello", "method": "GET", "path": "/", "keepalive": True}
LOAD = {"tool": "ab", "loop": "closed", "connections": 10}
HOSTS = {"client": {"name": "one", "cores": 2}, "server": {"name": "two", "cores": 2}}


@pytest.fixture
def check(db):
    tenant = make_tenant()

    def upload(text=AB, *, workload=WORKLOAD, load=LOAD, hosts=HOSTS, same_host=False):
        trial = make_trial(0, workload=workload, load=load)
        envelope = {**make_envelope(), "trials": [trial], "hosts": hosts, "same_host": same_host}
        row = make_upload(tenant, text, envelope=envelope)
        process(row.pk)
        row.refresh_from_db()
        findings = Trial.objects.get(run=row.run_id).checks
        return {finding["id"]: finding["detail"] for finding in findings}

    return upload


NAMES = {"contradicts-envelope", "not-as-asked", "other-duration", "one-host"}


def test_an_honest_trial_fires_nothing(check):
    assert not NAMES & check(workload={**WORKLOAD, "payload_bytes": 13, "tls": False}).keys()


@pytest.mark.parametrize(
    ("workload", "detail"),
    [
        (
            {"payload_bytes": 10_000},
            "The output has 13 bytes per response; the envelope says a payload of 10,000 bytes.",
        ),
        ({"keepalive": False}, "Keep-alive: the output says yes, the envelope no."),
        ({"tls": True}, "TLS: the output says no, the envelope yes."),
    ],
)
def test_another_workload_than_declared(check, workload, detail):
    assert check(workload={**WORKLOAD, **workload})["contradicts-envelope"] == detail


def test_without_keep_alive_where_it_was_declared(check):
    closing = AB.replace("Keep-Alive requests:    18000\n", "")
    detail = check(closing)["contradicts-envelope"]
    assert detail == "Keep-alive: the output says no, the envelope yes."


def test_a_server_that_closes_although_it_was_asked_to_keep(check):
    closing = AB.replace("Keep-Alive requests:    18000", "Keep-Alive requests:    0")
    detail = check(closing)["contradicts-envelope"]
    assert detail == "Keep-alive: the output says no, the envelope yes."


def test_a_larger_response_than_declared(check):
    large = AB.replace("2700000 bytes", "182700000 bytes").replace("234000", "180000000")
    detail = check(large, workload={**WORKLOAD, "payload_bytes": 13})["contradicts-envelope"]
    assert detail.startswith("The output has 10,000 bytes per response")


def test_a_total_that_a_tool_rounds_by_a_tenth_tells_no_size(check):
    few = WRK.replace("2.10MB read", "10.24KB read").replace("18000", "1200")
    workload = {**WORKLOAD, "payload_bytes": 13}
    assert "contradicts-envelope" not in check(few, workload=workload, load={"tool": "wrk"})


def test_parts_of_large_responses_at_the_end_are_no_contradiction(check):
    few = AB.replace("18000", "3").replace("2700000 bytes", "69000000 bytes")
    few = few.replace("234000 bytes", "68999000 bytes")
    workload = {**WORKLOAD, "payload_bytes": 10_000_000}
    assert "contradicts-envelope" not in check(few, workload=workload)


def test_another_load_than_declared(check):
    detail = check(load={**LOAD, "connections": 100})["contradicts-envelope"]
    assert detail == "Connections: the output says 10, the envelope 100."


def test_another_duration_thread_count_and_path(check):
    workload = {**WORKLOAD, "path": "/json", "keepalive": None}
    load = {"tool": "wrk", "connections": 10, "threads": 8, "duration_s": 60}
    assert check(WRK, workload=workload, load=load, same_host=True)["not-as-asked"] == (
        "Threads: the output says 2, the envelope 8. "
        "Path: the output says /, the envelope /json. "
        "Seconds: the output says 3, the envelope 60."
    )


@pytest.mark.parametrize(
    ("printed", "declared", "detail"),
    [
        ("Running 10s", None, "The load tool ran for 3 of 10 s."),
        ("Running 30s", 30, "The load tool ran for 3 of 30 s."),
        # A clock that was set forward.
        ("Running 1s", 1, "The load tool ran for 3 of 1 s."),
        ("Running 3s", 3, None),
        ("Running 4s", None, None),
        ("Running 2s", None, None),
        # What the output says counts; the envelope contradicts it.
        ("Running 3s", 60, None),
    ],
)
def test_the_time_asked_is_held_against_the_time_measured(check, printed, declared, detail):
    load = {"tool": "wrk", "duration_s": declared} if declared else {"tool": "wrk"}
    findings = check(WRK.replace("Running 3s", printed), load=load, same_host=True)
    assert findings.get("other-duration") == detail
    assert ("not-as-asked" in findings) is (declared == 60)


def test_a_tool_that_prints_no_time_asked_is_held_against_the_envelope(check):
    assert (
        check(load={**LOAD, "duration_s": 10})["other-duration"]
        == "The load tool ran for 3 of 10 s."
    )
    assert "other-duration" not in check(load={**LOAD, "duration_s": 3})


@pytest.mark.parametrize("tool", ["wrk", "wrk2", "fortio"])
def test_interrupted_tools(tool):
    """Captures of load tools that were stopped by Ctrl-C."""
    folders = {
        "wrk": "odd-interrupted-sigint",
        "wrk2": "interrupted-sigint",
        "fortio": "own-sigint",
    }
    captures = Path(formats.__file__).parent / tool / "tests" / "captures" / folders[tool]
    texts = [captures / name for name in ("stdout", "stderr") if (captures / name).stat().st_size]
    (trial,) = parse([RawArtefact.of(path.name, path.read_bytes()) for path in texts])
    facts = CheckInput(
        loop=trial.loop,
        elapsed_s=trial.elapsed_s,
        evidence=Evidence(printed=Claims(duration_s=trial.requested_duration_s)),
    )
    assert "other-duration" in fired(facts)


@pytest.mark.parametrize(
    ("facts", "is_late"),
    [
        ({}, True),
        ({"loop": "open"}, False),
        ({"errors": {"timeout": 3}}, False),
        # It waited for its last response.
        ({"latency_max_us": 7_500_000.0}, False),
        ({"latency_max_us": None}, False),
        ({"elapsed_s": 11.5}, False),
    ],
)
def test_a_tool_may_wait_for_its_last_responses(facts, is_late):
    asked = Evidence(asked=Claims(duration_s=10.0))
    facts = replace(SOUND, **{"elapsed_s": 17.0, "evidence": asked, **facts})
    assert ("other-duration" in fired(facts)) is is_late


def test_a_loopback_address_of_another_host(check):
    detail = check(WRK, load={"tool": "wrk"})["one-host"]
    assert detail == "The load tool called 127.0.0.1, which is the host that it runs on."
    assert "one-host" not in check(WRK, load={"tool": "wrk"}, same_host=True)


@pytest.mark.parametrize("same_host", [False, None])
def test_one_name_of_two_hosts(check, same_host):
    hosts = {role: {"name": "bench", "cores": 2} for role in ("client", "server")}
    detail = check(hosts=hosts, same_host=same_host)["one-host"]
    assert detail == "Client and server host are both named bench."
    assert "one-host" not in check(hosts=hosts, same_host=True)


@pytest.mark.parametrize(
    ("host", "is_own"),
    [
        ("172.17.0.2", True),
        ("host.docker.internal", True),
        ("172.18.0.2", False),
        ("10.0.0.7", False),
    ],
)
def test_a_container_of_the_own_host(check, host, is_own):
    text = AB.replace("10.0.0.7", host)
    sentence = f"The load tool called {host}, which is a container of the host that it runs on."
    assert check(text).get("one-host") == (sentence if is_own else None)
    assert "one-host" not in check(text, same_host=True)


@pytest.mark.parametrize(
    ("host", "is_own"),
    [
        *(("localhost", True), ("127.0.0.1", True), ("127.8.0.1", True), ("::1", True)),
        *(("api.localhost", True), ("10.0.0.7", False), ("localhost.example", False), ("", False)),
    ],
)
def test_which_hosts_are_the_client_itself(host, is_own):
    assert is_loopback(host) is is_own
