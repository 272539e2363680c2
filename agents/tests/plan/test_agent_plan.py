"""Plans: what is understood, and one clear sentence for what is not."""

from __future__ import annotations

import dataclasses
import math
import random
import re
import statistics
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from loadsheet_agent.errors import PlanError
from loadsheet_agent.host.locality import servers_are_here
from loadsheet_agent.plan.expansion import expand, expand_most
from loadsheet_agent.plan.intervals import FIRST_REPEATS, repeats_needed, t_95
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.reading import parse_plan, read_plan
from loadsheet_agent.plan.schedule import drive, is_met
from loadsheet_agent.plan.schema import plan_schema, schema_text
from loadsheet_agent.plan.sources import tomllib
from loadsheet_agent.plan.steps import Step
from loadsheet_agent.run.summary import expected_seconds, summarise
from loadsheet_agent.tools import TOOLS
from loadsheet_agent.tools.base import Glance

DEMO = Path(__file__).resolve().parents[3] / "scripts" / "demo" / "plan.toml"
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


def test_the_demo_plan_expands_to_what_its_comment_says():
    plan = read_plan(DEMO)
    steps = expand(plan)
    assert len([step for step in steps if not step.is_warmup]) == 36
    assert len([step for step in steps if step.is_warmup]) == 12
    assert plan.load.connections == (1, 8, 64)
    assert {workload.payload_bytes for workload in plan.workloads} == {13}


def test_repeats_of_one_server_are_not_in_a_row():
    measured = [step for step in expand(read_plan(DEMO)) if not step.is_warmup]
    neighbours = zip(measured, measured[1:])
    assert all(one.server.name != two.server.name for one, two in neighbours)


def test_a_warmup_is_right_before_the_trial_it_is_for():
    steps = expand(read_plan(DEMO))
    for warmup, trial in zip(steps, steps[1:]):
        if warmup.is_warmup:
            assert (trial.is_warmup, trial.repeat) == (False, 1)
            assert (trial.server, trial.connections) == (warmup.server, warmup.connections)


def test_a_restarted_server_is_warmed_up_every_time():
    started = SERVER + 'start = ["x"]\n' + WORKLOAD
    plan = parse('warmup_s = 1\nrestart = "each-trial"\n' + started)
    assert [step.is_warmup for step in expand(plan)] == [True, False] * 9


def test_a_plan_too_large_for_one_run_is_refused_before_it_runs():
    with pytest.raises(PlanError, match="makes more than 5000 trials"):
        expand(parse("repeats = 1667\n" + SERVER + WORKLOAD))
    with pytest.raises(PlanError, match="characters"):
        parse(SERVER + WORKLOAD + "#" * 200_000)


def test_the_hash_is_of_the_text():
    one, two = parse(SERVER + WORKLOAD), parse(SERVER + WORKLOAD + "# note\n")
    assert one.sha256 != two.sha256
    assert one.sha256 == parse(SERVER + WORKLOAD).sha256


SCHEMA = plan_schema()
TEMPLATE = (files("loadsheet_agent") / "plan.template.toml").read_text(encoding="utf-8")
FULL = (
    """
order = "randomised"
[load]
connections = [4]
[adaptive]
[abort]
"""
    + WORKLOAD
)
SEARCH = """
[load]
connections = [4]
[max_rate]
p99_ms = 20
start_rate = 100
most_rate = 5000
search_duration_s = 1
"""


def properties(name: str) -> dict:
    part = SCHEMA["properties"][name] if name else SCHEMA
    return part.get("items", part)["properties"]


def test_the_schema_file_is_made_of_the_records():
    stored = (files("loadsheet_agent") / "plan.schema.json").read_text(encoding="utf-8")
    assert stored == schema_text()


def test_the_schema_has_the_defaults_that_reading_fills_in():
    assert properties("load")["tool"]["enum"] == ["auto", *TOOLS]
    plan = parse(SERVER + WORKLOAD)
    for name, value in vars(plan).items():
        assert properties("").get(name, {}).get("default", value) == value
    load = dataclasses.replace(plan.load, connections=list(plan.load.connections))
    for name, value in vars(load).items():
        assert properties("load")[name].get("default", value) == value


def test_template_and_demo_keep_to_the_schema():
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for text in (TEMPLATE, DEMO.read_text(), FULL + SERVER, SEARCH + WORKLOAD + SERVER):
        jsonschema.validate(tomllib.loads(text), SCHEMA)
    for wrong in ("repeats = 0\n", "repeat = 3\n", 'order = "random"\n'):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(tomllib.loads(wrong + SERVER + WORKLOAD), SCHEMA)


def test_the_template_is_a_plan_and_so_is_each_line_it_has_commented_out():
    assert parse(TEMPLATE).repeats == 5
    line = re.compile(
        r"^# (\w+ = (?:[\d.]+|true|\[.*\]|\".*\"|\{.*\})|\[\w+\])(\s+#.*)?$", re.MULTILINE
    )
    offered = {match.split(" ")[0].strip("[]") for match, _ in line.findall(TEMPLATE)}
    known = {
        key
        for name in ("", "load", "adaptive", "max_rate", "steady", "abort", "services")
        for key in properties(name)
    }
    known |= {*properties("servers"), *properties("workloads")}
    assert offered <= known
    written = set(re.findall(r"^(?:# )?(\w+) =", TEMPLATE, re.MULTILINE)) | offered
    assert known - written - {
        "labels",
        "load",
        "abort",
        "workloads",
        "servers",
        "configuration",
    } <= {
        "version_command",
        "requests",
        "body_file",
        "adaptive",
        "max_rate",
        "steady",
    }


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


def take_all(plan: Plan, seed: int, answer) -> list[Step]:
    taken: list[Step] = []

    def take(step: Step) -> Glance:
        taken.append(step)
        return answer(step)

    drive(plan, take, seed=seed)
    return taken


TWO = SERVER + SERVER.replace('"a"', '"b"') + WORKLOAD


def test_a_randomised_order_is_a_shuffle_within_each_repeat_and_kept_by_its_seed():
    plan = parse('order = "randomised"\n' + TWO)
    one, two, other = (take_all(plan, seed, lambda _: Glance()) for seed in (1, 1, 2))
    assert one == two
    assert one != other
    assert [step.repeat for step in one] == [1] * 6 + [2] * 6 + [3] * 6
    assert len({step.key for step in one}) == 18


def test_trials_of_a_round_lie_side_by_side_and_share_their_number():
    for order in ("interleaved", "randomised"):
        steps = take_all(parse(f'order = "{order}"\n' + TWO), 3, lambda _: Glance())
        for one, other in zip(steps[::2], steps[1::2]):
            assert {one.server.name, other.server.name} == {"a", "b"}
            assert (one.repeat, one.connections) == (other.repeat, other.connections)


def test_no_server_is_always_measured_first():
    plan = parse("repeats = 4\n[load]\nconnections = [1]\n" + TWO)
    orders = set()
    for seed in range(20):
        names = "".join(step.server.name for step in take_all(plan, seed, lambda _: Glance()))
        first, second, third, fourth = names[:2], names[2:4], names[4:6], names[6:]
        assert (second, fourth) == (first[::-1], third[::-1])
        orders.add(names)
    assert len(orders) == 4


ADAPTIVE = "[adaptive]\nmost_repeats = 12\n[load]\nconnections = [1, 2]\n"


def test_the_first_repeats_of_an_adaptive_plan_fix_how_many_follow():
    plan = parse(ADAPTIVE + TWO)
    noise = random.Random(4)

    def answer(step: Step) -> Glance:
        is_noisy = (step.server.name, step.connections) == ("b", 2)
        return Glance(100.0 * math.exp(noise.gauss(0, 0.2)) if is_noisy else 100.0)

    taken = take_all(plan, 0, answer)
    # Server b is noisy at 2 connections: both servers are repeated there, round by round.
    counts = Counter((step.server.name, step.connections) for step in taken)
    assert counts == {("a", 1): 7, ("b", 1): 7, ("a", 2): 12, ("b", 2): 12}
    assert {step.repeats for step in taken if step.repeat <= 7} == {7}
    assert {step.repeats for step in taken if step.repeat > 7} == {12}


def test_an_adaptive_plan_says_how_many_trials_it_takes():
    plan = parse(ADAPTIVE + TWO)
    steps, most = expand(plan), expand_most(plan)
    assert (len(steps), len(most)) == (28, 48)
    text = summarise(plan, steps, most, None)
    assert "7 repeats first, then as many as ±2 % needs, at most 12." in text


def test_further_trials_are_announced_once_they_are_fixed():
    plan = parse(ADAPTIVE + TWO)
    announced, taken = [], []

    def take(step: Step) -> Glance:
        taken.append(step)
        return Glance(100.0 if step.repeat % 2 else 150.0)

    drive(plan, take, note_more=lambda steps: announced.append((len(taken), len(steps))))
    # In the turn of the seventh repeat, each of two load points gets 5 more of 2 servers.
    assert announced == [(26, 10), (28, 10)]
    assert len(taken) == 48


def test_a_server_given_twice_has_two_sides():
    plan = parse(SERVER + SERVER + WORKLOAD)
    assert [server.label for server in plan.servers] == ["a (side A)", "a (side B)"]
    steps = expand(plan)
    assert len({step.key for step in steps}) == len(steps) == 18
    assert "against itself" in summarise(plan, steps, steps, None)


def test_the_plan_for_a_machine_against_itself_is_one():
    plan = parse((files("loadsheet_agent") / "plan.aa.toml").read_text(encoding="utf-8"))
    assert [server.side for server in plan.servers] == ["A", "B"]
    assert plan.restart == "each-trial"


@pytest.mark.parametrize("limit", [3, 50, 100, 777, 4999, 100_000])
def test_a_search_finds_the_highest_rate_and_confirms_it(limit: int):
    plan = parse("repeats = 2\n" + SEARCH + SERVER + WORKLOAD)
    results = []

    def take(step: Step) -> Glance:
        return Glance(step.rate_rps, 0.001 if step.rate_rps <= limit else 0.5, 0.0)

    drive(plan, take, note_rate=lambda *result: results.append(result))
    ((_, _, rate, confirmed),) = results
    assert confirmed
    assert rate <= limit
    assert rate >= min(limit, 5000) / 1.05 - 1


def test_a_search_that_is_not_confirmed_goes_down_and_says_so():
    plan = parse("repeats = 2\n" + SEARCH + SERVER + WORKLOAD)
    results = []

    def take(step: Step) -> Glance:
        good = step.phase == "search" and step.rate_rps <= 400
        return Glance(step.rate_rps, 0.001, 0.0 if good else 0.1)

    drive(plan, take, note_rate=lambda *result: results.append(result))
    ((_, _, rate, confirmed),) = results
    assert (confirmed, rate < 400) == (False, True)


def test_what_is_unknown_does_not_meet_a_limit():
    plan = parse(SEARCH + SERVER + WORKLOAD)
    assert plan.max_rate is not None
    assert is_met(plan.max_rate, Glance(100.0, 0.01, 0.0), 100)
    assert not is_met(plan.max_rate, Glance(97.0, 0.01, 0.0), 100)
    for unknown in (Glance(None, 0.01, 0.0), Glance(100.0, None, 0.0), Glance(100.0, 0.01, None)):
        assert not is_met(plan.max_rate, unknown, 100)


def test_the_needed_repeats_are_stein_s():
    # By hand: logs 0, 0.1, 0.2; s = 0.1; t(2) = 4.303; (4.303 * 0.1 / 0.05)² = 74.06.
    values = [1.0, math.exp(0.1), math.exp(0.2)]
    assert repeats_needed(values, math.exp(0.05) - 1) == 75
    # Never fewer than there are, and none more where too few trials have a figure.
    assert repeats_needed([5.0] * 40, 0.02) == 40
    assert repeats_needed([1.0, 2.0, 0.0, 0.0], 0.02) == 0


def test_intervals_of_an_adaptive_plan_cover_as_often_as_they_say():
    draw = random.Random(20)
    covered = 0
    for _ in range(2000):
        logs = [draw.gauss(0, 0.03) for _ in range(60)]
        total = repeats_needed([math.exp(each) for each in logs[:FIRST_REPEATS]], 0.02)
        values = logs[: min(total, 20)]
        error = abs(statistics.mean(values)) / (statistics.stdev(values) / math.sqrt(len(values)))
        covered += error <= t_95(len(values) - 1)
    assert 0.93 <= covered / 2000 <= 0.97


def test_a_number_of_requests_has_no_known_time():
    plan = parse("[load]\nrequests = 1000\n" + SERVER + WORKLOAD)
    assert expected_seconds(plan, expand(plan)) is None
    assert "time unknown" in summarise(plan, expand(plan), expand(plan), None)
