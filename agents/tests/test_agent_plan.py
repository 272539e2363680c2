"""Plans: what is understood, and one clear sentence for what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadsheet_agent.errors import PlanError
from loadsheet_agent.hosts import servers_are_here
from loadsheet_agent.plan import Plan, parse_plan, read_plan
from loadsheet_agent.steps import expand

DEMO = Path(__file__).resolve().parents[2] / "scripts" / "demo" / "plan.toml"
SERVER = '[[servers]]\nname = "a"\nurl = "http://127.0.0.1:8000"\n'
WORKLOAD = '[[workloads]]\nname = "hello"\n'


def parse(text: str) -> Plan:
    return parse_plan(text, name="plan.toml", directory=Path("/"))


def test_a_short_plan_gets_defaults():
    plan = parse(SERVER + WORKLOAD)
    assert plan.load.tool == "auto"
    assert plan.load.connections == (1, 8, 64)
    assert (plan.repeats, plan.warmup_s, plan.rest_s) == (3, 0, 0)
    assert plan.workloads[0].path == "/"
    assert plan.servers[0].version is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = [", "plan.toml is not valid TOML"),
        (WORKLOAD, "no [[servers]] found"),
        (SERVER, "no [[workloads]] found"),
        (WORKLOAD + '[[servers]]\nurl = "http://h"', "servers[1]: name is missing"),
        (WORKLOAD + '[[servers]]\nname = "a"', "servers[1]: url is missing"),
        (WORKLOAD + '[[servers]]\nname = "a"\nurl = "ftp://h"', "no http or https address"),
        (WORKLOAD + '[[servers]]\nname = "a"\nurl = "http://h:99999"', "is no address"),
        (WORKLOAD + '[[servers]]\nname = "a"\nurl = "http://h/x"', "path belongs to the workload"),
        (WORKLOAD + '[[servers]]\nname = "a"\nurl = "http://u:p@h"', "password"),
        (WORKLOAD + '[[servers]]\nname = "a"\nurl = "http://h:{port}"', "there is no start"),
        (WORKLOAD + SERVER + 'start = "python x"', "expected a list"),
        (WORKLOAD + SERVER + "start = [1]", "no shell reads it"),
        (WORKLOAD + SERVER + "ready_timeout_s = 0", "expected at least 0.1"),
        (WORKLOAD + SERVER + "ready_timeout_s = nan", "expected at least 0.1"),
        (WORKLOAD + SERVER + 'version = "1"\nversion_command = ["x"]', "keep one of them"),
        (WORKLOAD + SERVER + 'verson = "1"', "did you mean version?"),
        (WORKLOAD + SERVER + "[servers.configuration]\nx = [1]", "configuration.x is [1]"),
        (WORKLOAD + SERVER + "[servers.configuration]\nx = nan", "configuration.x is nan"),
        (WORKLOAD + SERVER.replace('"a"', '"a\\n"'), "expected one line up to 200"),
        (WORKLOAD + SERVER.replace('"a"', f'"{"a" * 201}"'), "expected one line up to 200"),
        (WORKLOAD + SERVER + SERVER, "two servers are named 'a'"),
        (SERVER + WORKLOAD + WORKLOAD, "two workloads are named 'hello'"),
        (SERVER + WORKLOAD + 'path = "a b"', "expected it to begin with /"),
        (SERVER + WORKLOAD + 'method = "get"', "method is 'get'; expected one of GET, HEAD"),
        (SERVER + WORKLOAD + "keepalive = 1", "expected true or false"),
        (SERVER + WORKLOAD + "[load]\nconnections = [0]", "whole numbers such as [1, 8, 64]"),
        (SERVER + WORKLOAD + "[load]\nconnections = [8, 8]", "each number may stand there once"),
        (SERVER + WORKLOAD + "[load]\nconnections = 8", "expected a list"),
        (SERVER + WORKLOAD + '[load]\nduration_s = "1"', "expected a number"),
        (SERVER + WORKLOAD + "[load]\nduration_s = true", "expected a number"),
        (SERVER + WORKLOAD + '[load]\ntool = "jmeter"', "expected one of auto, wrk, wrk2, ab"),
        ("repeats = 0\n" + SERVER + WORKLOAD, "repeats is 0; expected at least 1"),
        ("warmup_s = -1\n" + SERVER + WORKLOAD, "warmup_s is -1"),
        ('order = "random"\n' + SERVER + WORKLOAD, "expected one of interleaved"),
        (SERVER + WORKLOAD + "[labels]\na = [1]", "labels.a"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_place(text: str, sentence: str):
    with pytest.raises(PlanError) as caught:
        parse(text)
    assert sentence in str(caught.value)
    assert "plan.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_or_binary_file_is_a_plan_error(tmp_path: Path):
    with pytest.raises(PlanError, match="cannot be read"):
        read_plan(tmp_path / "none.toml")
    (tmp_path / "junk.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PlanError, match="not UTF-8"):
        read_plan(tmp_path / "junk.toml")


def test_servers_on_several_hosts_are_refused():
    # 192.0.2.0/24 is reserved for documentation and never an address of this machine.
    other = '[[servers]]\nname = "b"\nurl = "http://192.0.2.1:80"\n'
    with pytest.raises(PlanError, match="'a' is on this machine and 'b' is not"):
        servers_are_here(parse(SERVER + other + WORKLOAD))
    assert servers_are_here(parse(SERVER + WORKLOAD)) is True
    assert servers_are_here(parse(other + WORKLOAD)) is False


def test_the_demo_plan_expands_to_what_its_comment_says():
    plan = read_plan(DEMO)
    steps = expand(plan)
    assert len([step for step in steps if not step.warmup]) == 36
    assert len([step for step in steps if step.warmup]) == 12
    assert [step.ordinal for step in steps] == list(range(48))
    assert plan.load.connections == (1, 8, 64)
    assert {workload.payload_bytes for workload in plan.workloads} == {13}


def test_repeats_of_one_server_are_not_in_a_row():
    measured = [step for step in expand(read_plan(DEMO)) if not step.warmup]
    neighbours = zip(measured, measured[1:])
    assert all(one.server.name != two.server.name for one, two in neighbours)


def test_a_warmup_is_right_before_the_trial_it_is_for():
    steps = expand(read_plan(DEMO))
    for warmup, trial in zip(steps, steps[1:]):
        if warmup.warmup:
            assert (trial.warmup, trial.repeat) == (False, 1)
            assert (trial.server, trial.connections) == (warmup.server, warmup.connections)


def test_a_restarted_server_is_warmed_up_every_time():
    plan = parse('warmup_s = 1\nrestart = "each-trial"\n' + SERVER + WORKLOAD)
    assert [step.warmup for step in expand(plan)] == [True, False] * 9


def test_a_plan_too_large_for_one_run_is_refused_before_it_runs():
    with pytest.raises(PlanError, match="makes 5001 trials"):
        expand(parse("repeats = 1667\n" + SERVER + WORKLOAD))
    with pytest.raises(PlanError, match="characters"):
        parse(SERVER + WORKLOAD + "#" * 200_000)


def test_the_hash_is_of_the_text():
    one, two = parse(SERVER + WORKLOAD), parse(SERVER + WORKLOAD + "# note\n")
    assert one.sha256 != two.sha256
    assert one.sha256 == parse(SERVER + WORKLOAD).sha256
