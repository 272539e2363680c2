"""Plans: what is understood, and one clear sentence for what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from plan_texts import SEARCH, SERVER, WORKLOAD, parse

from loadsheet_agent.errors import PlanError
from loadsheet_agent.host.locality import servers_are_here
from loadsheet_agent.plan.reading import parse_plan, read_plan


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
        (WORKLOAD + '[[servers]]\nname = "a"\nurl = "ftp://h"', "not an http or https address"),
        (WORKLOAD + '[[servers]]\nname = "a"\nurl = "http://h:99999"', "is not an address"),
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
        (WORKLOAD + SERVER.replace('"a"', '"a\\n"'), "expected one line of at most 200 characters"),
        (
            WORKLOAD + SERVER.replace('"a"', f'"{"a" * 201}"'),
            "expected one line of at most 200 characters",
        ),
        (WORKLOAD + SERVER + SERVER + 'version = "2"', "but their version differs"),
        (WORKLOAD + SERVER * 3, "more than two servers are named 'a'"),
        (WORKLOAD + (SERVER + 'start = ["x"]\n') * 2, "write {port} in its url"),
        (SERVER + WORKLOAD + WORKLOAD, "two workloads are named 'hello'"),
        (SERVER + WORKLOAD + 'path = "a b"', "expected it to begin with /"),
        (SERVER + WORKLOAD + 'method = "get"', "method is 'get'; expected one of GET, HEAD"),
        (SERVER + WORKLOAD + "keepalive = 1", "expected true or false"),
        (SERVER + WORKLOAD + "[load]\nconnections = [0]", "whole numbers such as [1, 8, 64]"),
        (SERVER + WORKLOAD + "[load]\nconnections = [8, 8]", "give each number once"),
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


def test_the_hash_is_of_the_text():
    one, two = parse(SERVER + WORKLOAD), parse(SERVER + WORKLOAD + "# note\n")
    assert one.sha256 != two.sha256
    assert one.sha256 == parse(SERVER + WORKLOAD).sha256


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (SEARCH + SERVER + SERVER + WORKLOAD, "remove [max_rate]"),
        ("[load]\nrates = [0]\n" + SERVER + WORKLOAD, "numbers above 0"),
        ("[load]\nrates = [5]\n" + SERVER + WORKLOAD, "needs connections = [N]"),
        ("[load]\nduration_s = 1\nrequests = 5\n" + SERVER + WORKLOAD, "keep one of them"),
        ("[load]\nconnections = [4]\n[max_rate]\n" + SERVER + WORKLOAD, "p99_ms is missing"),
        ("[max_rate]\np99_ms = 1\n" + SERVER + WORKLOAD, "needs connections = [N]"),
        (SEARCH + "[adaptive]\n" + SERVER + WORKLOAD, "keep one of them"),
        ("repeats = 30\n[adaptive]\n" + SERVER + WORKLOAD, "most_repeats is 20"),
        ("[abort]\nerror_rate = 2\n" + SERVER + WORKLOAD, "above 0 and at most 1"),
        (WORKLOAD + SERVER + 'stop = ["x"]', "stop is given but no start"),
        (WORKLOAD + SERVER + 'ready_path = "x"', "write a path, for example /health"),
        (
            SERVER + WORKLOAD + 'headers = { Host = "x" }',
            "the load tool writes the header Host itself",
        ),
        (SERVER + WORKLOAD + 'headers = { "X-A" = "é" }', "one line of ASCII"),
        (SERVER + WORKLOAD + 'headers = { "A" = "x", "a" = "y" }', "given twice"),
        (SERVER + WORKLOAD + 'headers = { "A" = "{env:NOT_THERE}" }', "NOT_THERE, which is not"),
        (SERVER + WORKLOAD + 'method = "POST"\nbody = "x"', "needs the header Content-Type"),
        (SERVER + WORKLOAD + 'body = "x"\nbody_file = "y"', "keep one of them"),
        (SERVER + WORKLOAD + 'body_file = "no such"', "cannot be read"),
    ],
)
def test_newer_mistakes_are_one_sentence_too(text: str, sentence: str):
    with pytest.raises(PlanError) as caught:
        parse(text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_environment_values_are_filled_in_and_known_as_secrets():
    text = SERVER + WORKLOAD + 'headers = { Authorization = "Bearer {env:APP}" }\n'
    environ = {"APP": "t0p-secret", "OTHER": "x"}
    plan = parse_plan(text, name="plan.toml", directory=Path("/"), environ=environ)
    assert plan.workloads[0].headers == {"Authorization": "Bearer t0p-secret"}
    assert plan.secrets == {"t0p-secret"}
    assert "t0p-secret" not in plan.text
