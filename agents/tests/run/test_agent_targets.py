"""Only servers that whoever runs the agent allows get load."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from agent_fakes import FakeService, run_agent, write_plan

from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.run import allowed_targets
from loadsheet_agent.run.allowed_targets import AllowedTargets, read_allowed_targets

# Loopback, metadata and more, spelt so that a filter of texts may miss them.
ODD = (
    "http://127.0.0.1:80",
    "http://2130706433",
    "http://0x7f000001",
    "http://0177.0.0.1",
    "http://127.1",
    "http://[::1]",
    "http://[::ffff:127.0.0.1]",
    "http://[::ffff:169.254.169.254]",
    "http://169.254.169.254",
    "http://[fe80::1]",
    "http://224.0.0.1",
    "http://0.0.0.0",
    "http://100.64.0.1",
    "http://user@10.1.0.1:80@127.0.0.1",
)


@pytest.mark.parametrize("url", ODD)
def test_whatever_the_spelling_only_allowed_addresses_get_load(url: str):
    allowed = read_allowed_targets("10.1.0.0/16,fd00::/8")
    assert allowed.refusal(url) is not None
    assert AllowedTargets().refusal(url) is None


@pytest.mark.parametrize("url", ["http://169.254.169.254", "http://[fe80::1]", "http://0.0.0.0"])
def test_what_is_never_meant_gets_no_load_from_a_wide_network_either(url: str):
    assert read_allowed_targets("0.0.0.0/0,::/0").refusal(url) is not None


@pytest.mark.parametrize(
    ("text", "url", "is_allowed"),
    [
        ("10.1.0.0/16", "http://10.1.2.3:8080", True),
        ("10.1.0.0/16:8080", "http://10.1.2.3:8080", True),
        ("10.1.0.0/16:8080", "http://10.1.2.3", False),
        ("10.1.2.3:443", "https://10.1.2.3", True),
        ("[fd00::1]:8080", "http://[fd00::1]:8080", True),
        ("[fd00::1]:8080", "http://[fd00::1]:8081", False),
        ("fd00::1", "http://[fd00::1]:8081", True),
        ("10.1.2.3, localhost:80", "http://127.0.0.1", True),
        ("10.1.2.3", "http://10.1.2.4", False),
    ],
)
def test_networks_names_and_ports(text: str, url: str, is_allowed: bool):
    assert (read_allowed_targets(text).refusal(url) is None) == is_allowed


@pytest.mark.parametrize("text", ["10.1.0.1/16", "10.1.2.3:0", "10.1.2.3:http", "nowhere.invalid"])
def test_a_list_that_is_not_understood_is_refused(text: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(allowed_targets, "look_up", lambda _: ())
    with pytest.raises(UsageError, match="--targets has"):
        read_allowed_targets(text)


def test_a_name_that_leads_elsewhere_later_gets_no_load(monkeypatch: pytest.MonkeyPatch):
    answers = iter(("10.1.2.3", "10.1.2.3", "169.254.169.254", "10.1.2.4"))

    def answer(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), 0))]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    allowed = read_allowed_targets("bench.example")
    refusals = [allowed.refusal("http://bench.example") for _ in range(3)]
    assert [refusal is None for refusal in refusals] == [True, False, False]


@pytest.mark.processes
@pytest.mark.parametrize(("port", "said"), [("9", " port 9"), ("{port}", "")])
def test_a_plan_for_another_server_is_refused_before_anything_starts(
    service: FakeService, fake_wrk: str, tmp_path: Path, port: str, said: str
):
    """Also where the plan starts it and gives it a free port: it may say any address."""
    plan = write_plan(tmp_path, servers=1)
    plan.write_text(plan.read_text().replace("http://127.0.0.1:{port}", f"http://192.0.2.1:{port}"))
    flags = ("--tool-path", f"wrk={fake_wrk}", "--url", service.url, "--token", "ls_agent_test")
    done = run_agent("run", plan, *flags, LOADSHEET_TARGETS="127.0.0.1")
    assert done.returncode == Exit.PLAN
    assert f"192.0.2.1{said} is not an allowed target (--targets)" in done.stderr
    assert service.uploads == {}


@pytest.mark.processes
def test_a_server_of_the_plan_gets_no_load_where_its_address_is_not_allowed(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    """Its port is known once it runs: the trials say why they were not measured."""
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=1, warmup_s=0)
    flags = ("--tool-path", f"wrk={fake_wrk}")
    done = run_agent("run", plan, *flags, "--targets", "127.0.0.1:1")
    assert "not an allowed target" in done.stderr
    done = run_agent(
        "run", plan, *flags, "--targets", "127.0.0.1", "--url", service.url, "--token", "t"
    )
    assert done.returncode == Exit.OK, done.stderr
