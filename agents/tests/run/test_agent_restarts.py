"""When servers are started again: what it costs, who decides, and what each trial records."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from agent_fakes import HELLO_SERVER, QUICK_AGENT, FakeService, write_plan
from plan_runs import only, run_plan

from loadsheet_agent.exits import Exit
from loadsheet_agent.plan.expansion import TRIALS_LIMIT, count_starts, expand, expand_further
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.reading import parse_plan
from loadsheet_agent.run.progress import Clock
from loadsheet_agent.run.restarts import Restarts, settle_restarts
from loadsheet_agent.run.timings import Timings

SERVER = '[[servers]]\nname = "a"\nurl = "http://127.0.0.1:8000"\n'
WORKLOAD = '[[workloads]]\nname = "hello"\n'
STARTED = SERVER + 'start = ["x"]\n'
TWO = STARTED + STARTED.replace('"a"', '"b"') + WORKLOAD
SEARCH = "[load]\nconnections = [4]\n[max_rate]\np99_ms = 20\nmost_rate = 5000\n"
LOAD = "[load]\nconnections = [1, 8]\nduration_s = 10\n"


def parse(text: str) -> Plan:
    return parse_plan(text, name="plan.toml", directory=Path("/"))


def settle(plan: Plan, start_s: float, around_s: float = 0.0) -> Restarts:
    """As after the first repeat of a run with these times, and no time for preparation."""
    timings = Timings(plan)
    timings.add_preparation(0.0)
    for server in plan.servers:
        timings.add_start(server, start_s)
    for step in expand(plan)[:2]:
        timings.add_load(step, (step.duration_s or 0.0) + around_s)
    return settle_restarts(plan, 0, timings)


@pytest.mark.parametrize(
    ("start_s", "restart", "sentence"),
    [
        # 12 trials of 10 s and 2 starts; a start of each server before repeats 2 and 3.
        (3.0, "each-repeat", "Restarting a and b before each repeat adds about 12.0 s (9.5 %)"),
        (4.0, "never", "would add about 16.0 s (12 %) to the run, which is more than 10 %"),
        (60.0, "never", "would add about 4:00 (100 %) to the run"),
    ],
)
def test_servers_are_restarted_where_the_run_becomes_a_tenth_longer_at_most(
    start_s: float, restart: str, sentence: str
):
    restarts = settle(parse(LOAD + TWO), start_s)
    assert restarts.plan.restart == restart
    assert restarts.added_s == pytest.approx(4 * start_s)
    assert sentence in restarts.sentence
    assert ('restart = "each-repeat" in the plan' in restarts.sentence) == (restart == "never")


def test_the_warm_ups_of_new_processes_are_part_of_the_cost():
    restarts = settle(parse("warmup_s = 5\n" + LOAD + TWO), 0.0)
    # 4 warm-ups before the 12 trials, or 12.
    assert (restarts.plan.restart, restarts.added_s) == ("never", pytest.approx(8 * 5))
    assert [step.is_warmup for step in restarts.steps].count(True) == 4


@pytest.mark.parametrize("restart", ["never", "each-repeat", "each-trial"])
def test_a_plan_that_says_when_servers_are_restarted_is_kept(restart: str):
    plan = parse(f'restart = "{restart}"\n' + LOAD + TWO)
    assert settle(plan, 1000.0) == Restarts(plan, expand(plan))


def test_nothing_is_said_where_a_restart_before_each_repeat_changes_nothing():
    running = parse(LOAD + SERVER + WORKLOAD)
    assert settle(running, 0.1).sentence is None
    assert settle(parse("repeats = 1\n" + LOAD + TWO), 0.1).sentence is None


def test_the_cost_of_requests_is_unknown_until_they_were_measured():
    plan = parse("[load]\nrequests = 1000\n" + TWO)
    restarts = settle_restarts(plan, 0, Timings(plan))
    assert (restarts.plan.restart, restarts.added_s) == ("never", None)
    assert restarts.expectation.startswith("The first repeat shows what restarting a and b")
    assert settle(plan, 0.1, around_s=10.0).plan.restart == "each-repeat"


def test_a_run_that_restarts_would_make_too_long_is_not_refused():
    repeats = TRIALS_LIMIT // 2
    plan = parse(
        f"repeats = {repeats}\nwarmup_s = 0.1\n[load]\nconnections = [1]\n" + STARTED + WORKLOAD
    )
    assert len(settle(plan, 0.0).steps) == TRIALS_LIMIT
    once = settle(replace(plan, repeats=repeats + 1), 0.0)
    assert len(once.steps) == repeats + 2
    assert once.sentence == (
        "Restarting a before each repeat would make too many trials for one run, so it is not done."
    )


def test_the_trials_of_a_load_point_have_a_start_each():
    for order in ("interleaved", "randomised"):
        plan = parse(f'restart = "each-repeat"\norder = "{order}"\n' + LOAD + TWO)
        # Not more: the load points of a repeat share its start.
        assert set(count_starts(plan, expand(plan)).values()) == {3}


def test_only_trials_that_confirm_a_rate_are_repeats():
    plan = parse('restart = "each-repeat"\nwarmup_s = 1\n' + SEARCH + STARTED + WORKLOAD)
    steps = expand(plan)
    assert sum(count_starts(plan, steps).values()) == 3
    assert [step.is_warmup for step in steps[-5:]] == [False, True, False, True, False]


@pytest.mark.parametrize(("restart", "warmups"), [("never", 0), ("each-repeat", 2)])
def test_further_repeats_have_the_warm_ups_of_their_restarts(restart: str, warmups: int):
    plan = parse(f'restart = "{restart}"\nwarmup_s = 1\n' + LOAD + STARTED + WORKLOAD)
    (trial, *_) = (step for step in expand(plan) if not step.is_warmup)
    further = expand_further(plan, [replace(trial, repeat=repeat) for repeat in (8, 9)])
    assert [step.is_warmup for step in further].count(True) == warmups
    assert [step.repeat for step in further if not step.is_warmup] == [8, 9]


def test_the_time_left_follows_what_the_first_repeat_decided():
    plan = parse(LOAD + TWO)
    expected = settle(plan, 0.0)
    timings = Timings(expected.plan)
    clock = Clock(expected.steps, timings)
    settled = settle(plan, 4.0)
    steps, starts = settled.left_from(settled.steps[4], {server.key for server in plan.servers})
    clock.finished = 4
    clock.replan(settled.plan, steps, starts)
    assert (clock.count, len(steps), +starts) == (12, 8, {})
    steps, starts = expected.left_from(settled.steps[4], {plan.servers[0].key})
    assert (len(steps), starts) == (4, {plan.servers[0].key: 2})


# Of one server at two load points with three repeats; a warm-up precedes its trial.
EACH_REPEAT = [1] * 4 + [2] * 4 + [3] * 4
EACH_TRIAL = [number for number in range(1, 7) for _ in range(2)]


@pytest.mark.processes
@pytest.mark.parametrize(
    ("keys", "share", "starts"),
    [
        ("", 1000, EACH_REPEAT),
        ("", 0, [1] * 8),
        ('restart = "each-repeat"', 0, EACH_REPEAT),
        ('restart = "each-trial"', 0, EACH_TRIAL),
        ('restart = "never"', 1000, [1] * 8),
    ],
)
def test_each_trial_says_which_start_it_met(
    service: FakeService, fake_wrk: str, tmp_path: Path, keys: str, share: float, starts: list[int]
):
    plan = write_plan(tmp_path, servers=1, repeats=3, more=keys)
    done = run_with_limit(share, plan, service, fake_wrk)
    assert done.returncode == Exit.OK, done.stderr
    envelope = only(service).envelope
    assert [trial["load"]["start"] for trial in envelope["trials"]] == starts
    assert envelope["run"]["trials_planned"] == len(starts)
    assert f"[{len(starts)}/{len(starts)}]" in done.stderr
    # Each process is warmed up once for each load point, right before its first trial there.
    warm = [trial["load"]["start"] for trial in envelope["trials"] if trial["warmup"]]
    assert len(warm) == len(set(starts)) * (1 if starts == EACH_TRIAL else 2)
    events = [event["text"] for event in envelope["run"]["events"]]
    assert len(events) == (keys == "")
    for text in events:
        assert ("would add" in text) == (share == 0)
        # Before the run as an expectation, and once it was measured.
        assert f"\n{text}\n" in done.stderr
        assert "The times of the first repeat decide." in done.stderr


@pytest.mark.processes
def test_a_server_that_starts_slowly_keeps_its_start(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=2, connections="[1]", repeats=2, warmup_s=0)
    (tmp_path / "hello.py").write_text("import time\ntime.sleep(1)\n" + HELLO_SERVER)
    done = run_plan(plan, service, fake_wrk)
    assert done.returncode == Exit.OK, done.stderr
    assert {trial["load"]["start"] for trial in only(service).envelope["trials"]} == {1, 2}
    assert "Restarting server 1 and server 2 before each repeat would add about" in done.stderr


@pytest.mark.processes
def test_no_start_is_shared_where_one_server_runs_at_a_time(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    # The second repeat begins with the server that ended the first, and that still runs.
    plan = write_plan(tmp_path, servers=3, connections="[1]", repeats=2, warmup_s=0)
    done = run_with_limit(1000, plan, service, fake_wrk)
    assert done.returncode == Exit.OK, done.stderr
    trials = only(service).envelope["trials"]
    assert sorted(trial["load"]["start"] for trial in trials) == [1, 2, 3, 4, 5, 6]


def run_with_limit(share: float, plan: Path, service: FakeService, tool: str):
    """Restarts may make the run longer by this share: the real one depends on this machine."""
    patch = f"from loadsheet_agent.run import restarts; restarts.MOST_LONGER = {share}; "
    flags = ["--tool-path", f"wrk={tool}", *service.flags]
    return subprocess.run(
        [sys.executable, "-c", patch + QUICK_AGENT, "run", str(plan), *flags],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
