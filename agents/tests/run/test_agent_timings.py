"""Time left: learned from the trials of this run and of earlier ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from loadsheet_agent.plan.expansion import expand
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.reading import parse_plan
from loadsheet_agent.plan.server_spec import ServerSpec
from loadsheet_agent.plan.steps import Step
from loadsheet_agent.run import progress
from loadsheet_agent.run import timings as parts
from loadsheet_agent.run.progress import Clock
from loadsheet_agent.run.summary import summarise
from loadsheet_agent.run.timings import FILE, MOST_KEPT, Timings, read_timings
from loadsheet_agent.tools.base import Glance

SERVERS = "".join(
    f'[[servers]]\nname = "{name}"\nurl = "http://127.0.0.1:{{port}}"\nstart = ["x"]\n'
    for name in ("quick", "slow")
)
# Seconds of a trial with 1,000 requests.
LENGTHS = {"quick": 1.0, "slow": 9.0}
# Seconds until a server answers, and until all servers are prepared.
START_S, PREPARATION_S = 4.0, 7.0


def plan_of(load: str, repeats: int = 5, more: str = "") -> Plan:
    text = (
        f"repeats = {repeats}\nrest_s = 0\n{more}\n[load]\nconnections = [1, 8]\n{load}\n"
        f'{SERVERS}[[workloads]]\nname = "hello"\n'
    )
    return parse_plan(text, name="plan", directory=Path.cwd(), environ={})


class Run:
    """Carries out steps on a clock that the test turns."""

    def __init__(self, timings: Timings, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(progress.time, "monotonic", lambda: self.now)
        self.steps = expand(timings.plan)
        self.clock = Clock(self.steps, timings)

    def prepare(self) -> None:
        self.now += PREPARATION_S
        self.clock.note_prepared()

    def start(self, step: Step) -> None:
        self.now += START_S
        self.clock.note_start(step.server, START_S)

    def rest(self, seconds: float) -> None:
        self.now += seconds
        self.clock.note_rest(seconds)

    def take(self, step: Step, seconds: float) -> None:
        self.now += 0.1
        self.clock.begin(step)
        self.now += seconds - 0.1
        self.clock.end()


def take_all(run: Run, count: int) -> float:
    """Start each server once and carry out the first steps; the seconds of the others."""
    started = set()
    run.prepare()
    for step in run.steps[:count]:
        if step.server.key not in started:
            started.add(step.server.key)
            run.start(step)
        run.take(step, LENGTHS[step.server.name])
    return sum(LENGTHS[step.server.name] for step in run.steps[count:])


def test_trials_with_a_number_of_requests_are_estimated_once_each_server_was_measured(monkeypatch):
    run = Run(Timings(plan_of("requests = 1000")), monkeypatch)
    assert run.clock.left_s() is None
    assert run.clock.left() == "? left"
    # One round: both servers at one load. The other load is taken to be alike.
    left = take_all(run, 2)
    assert run.clock.left_s() == pytest.approx(left)
    assert run.clock.count == 20


def test_the_running_trial_counts_down(monkeypatch):
    run = Run(Timings(plan_of("requests = 1000")), monkeypatch)
    left = take_all(run, 10)
    run.clock.begin(run.steps[10])
    run.now += 0.4
    assert run.clock.left_s() == pytest.approx(left - 0.4)
    assert run.clock.total() == pytest.approx(run.clock.position() + left - 0.4)


def test_what_an_agent_does_around_a_load_is_learned(monkeypatch):
    run = Run(Timings(plan_of("duration_s = 2")), monkeypatch)
    run.prepare()
    assert run.clock.left_s() == pytest.approx(20 * (2 + parts.AROUND_S) + 2 * parts.START_S)
    for step in run.steps[:4]:
        run.take(step, 5.0)
    assert run.clock.left_s() == pytest.approx(16 * 5.0 + 2 * parts.START_S)


def test_a_load_that_ends_early_takes_less_than_its_duration(monkeypatch):
    run = Run(Timings(plan_of("duration_s = 2")), monkeypatch)
    run.prepare()
    for step in run.steps[:4]:
        run.take(step, 0.5)
    assert run.clock.left_s() == pytest.approx(16 * 0.5 + 2 * parts.START_S)


def test_a_start_is_expected_where_a_server_does_not_run_yet(monkeypatch):
    run = Run(Timings(plan_of("duration_s = 2", more='restart = "each-trial"')), monkeypatch)
    run.prepare()
    for step in run.steps[:4]:
        run.start(step)
        run.take(step, 2.5)
    assert run.clock.left_s() == pytest.approx(16 * (2.5 + START_S))
    again = Run(Timings(plan_of("duration_s = 2")), monkeypatch)
    take_all(again, 2)
    # Both servers run now.
    assert again.clock.left_s() == pytest.approx(9 * LENGTHS["quick"] + 9 * LENGTHS["slow"])


def test_the_wait_for_sockets_is_learned(monkeypatch):
    plan = plan_of("duration_s = 2", more="rest_time_wait = 100")
    closing = replace(plan, workloads=(replace(plan.workloads[0], keepalive=False),))
    run = Run(Timings(closing), monkeypatch)
    run.prepare()
    starts_s = 2 * parts.START_S
    first = 20 * (2 + parts.AROUND_S + parts.DRAIN_S) + starts_s
    assert run.clock.left_s() == pytest.approx(first)
    for step in run.steps[:4]:
        run.rest(11.0)
        run.take(step, 2.5)
    assert run.clock.left_s() == pytest.approx(16 * (2.5 + 11.0) + starts_s)


def test_warm_ups_that_were_not_planned_are_expected_again(monkeypatch):
    plan = plan_of("duration_s = 2", more='warmup_s = 1\nrestart = "each-trial"\n[steady]')
    run = Run(Timings(plan), monkeypatch)
    run.prepare()
    assert [step.is_warmup for step in run.steps[:5]] == [True] * 3 + [False, True]
    for step in run.steps[:3]:
        run.take(step, 1.3)
    for _ in range(3):
        run.clock.add_warmup(run.steps[0])
        run.take(run.steps[0], 1.3)
    assert run.clock.count == 83
    loads = 19 * 6 * 1.3 + 20 * (2 + parts.AROUND_S)
    assert run.clock.left_s() == pytest.approx(loads + 20 * parts.START_S)


def test_a_dropped_trial_takes_no_time(monkeypatch):
    run = Run(Timings(plan_of("requests = 1000")), monkeypatch)
    left = take_all(run, 18)
    run.clock.drop(run.steps[18])
    assert run.clock.left_s() == pytest.approx(left - LENGTHS[run.steps[18].server.name])


def test_a_server_that_is_skipped_is_not_started(monkeypatch):
    run = Run(Timings(plan_of("duration_s = 2", more='restart = "each-trial"')), monkeypatch)
    run.prepare()
    for step in run.steps:
        if step.server.name == "slow":
            run.clock.drop(step)
    assert run.clock.left_s() == pytest.approx(10 * (2 + parts.AROUND_S + parts.START_S))


def test_a_trial_that_was_not_planned_takes_the_place_of_one_that_was(monkeypatch):
    run = Run(Timings(plan_of("duration_s = 2", repeats=1)), monkeypatch)
    run.prepare()
    for step in run.steps:
        run.start(step)
        run.take(replace(step, rate_rps=77.0), 2.0)
    assert run.clock.left_s() == 0


def test_an_earlier_run_tells_the_time_before_the_first_trial(monkeypatch, tmp_path: Path):
    plan = plan_of("requests = 1000")
    timings = read_timings(plan, tmp_path)
    run = Run(timings, monkeypatch)
    whole = sum(LENGTHS[step.server.name] for step in run.steps) + 2 * START_S + PREPARATION_S
    take_all(run, len(run.steps))
    timings.save(tmp_path)
    again = Run(read_timings(plan, tmp_path), monkeypatch)
    assert again.clock.left_s() == pytest.approx(whole)
    monkeypatch.setenv("LOADSHEET_CACHE", str(tmp_path))
    assert "about 1:55" in summarise(plan, again.steps, again.steps, None)


def test_another_plan_of_the_same_servers_is_estimated_by_its_parts(monkeypatch, tmp_path: Path):
    plan = plan_of("requests = 1000")
    timings = read_timings(plan, tmp_path)
    run = Run(timings, monkeypatch)
    loads_s = sum(LENGTHS[step.server.name] for step in run.steps)
    take_all(run, 20)
    timings.save(tmp_path)
    around_s = 20 * parts.AROUND_S
    constant_s = 2 * START_S + PREPARATION_S
    for other, expected_s in (
        (replace(plan, rest_s=3.0), constant_s + loads_s + 19 * 3.0),
        (plan_of("requests = 500"), constant_s + (loads_s - around_s) / 2 + around_s),
        (replace(plan, restart="each-trial"), constant_s + loads_s + 18 * START_S),
    ):
        assert read_timings(other, tmp_path).total_s(expand(other)) == pytest.approx(expected_s)


@pytest.mark.parametrize("text", ["", "[1]", '{"a": "b"}', '{"a": true}', "\0"])
def test_a_broken_file_of_timings_is_none(tmp_path: Path, text: str):
    (tmp_path / FILE).write_text(text)
    assert read_timings(plan_of("requests = 5"), tmp_path).earlier == {}


def test_only_the_newest_timings_are_kept(monkeypatch, tmp_path: Path):
    plan = plan_of("requests = 1000")
    timings = Timings(plan, {str(number): 1.0 for number in range(MOST_KEPT)})
    take_all(Run(timings, monkeypatch), 4)
    timings.save(tmp_path)
    kept = read_timings(plan, tmp_path).earlier
    assert len(kept) == MOST_KEPT
    assert "0" not in kept
    assert any("slow" in kind for kind in kept)


RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.json"))
# Shares of a run that was recorded.
FIRST_ESTIMATE, MOST_OFF = 0.1, 0.2


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_the_time_of_a_recorded_run_is_known_within_a_fifth_after_a_tenth_of_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    # Runs of two studies, in which the work of other programs stayed about the same: what others
    # will do later, no estimate knows.
    recorded = json.loads(path.read_text())
    trials = [dict(zip(recorded["columns"], row)) for row in recorded["trials"]]
    whole_s = trials[-1]["ended_s"]
    totals = list(replayed(trials, monkeypatch))
    judged = totals[int(FIRST_ESTIMATE * len(totals)) :]
    assert len(judged) > 60
    assert max(abs(total / whole_s - 1) for total in judged) < MOST_OFF


def replayed(trials: list[dict], monkeypatch: pytest.MonkeyPatch) -> Iterator[float]:
    """The estimated seconds of the whole run after each of its trials."""
    servers = dict.fromkeys(trial["server"] for trial in trials)
    text = 'alive = "one"\nrest_s = 0\n[[workloads]]\nname = "w"\n' + "".join(
        f'[[servers]]\nname = "{name}"\nurl = "http://127.0.0.1:{{port}}"\nstart = ["x"]\n'
        for name in servers
    )
    plan = parse_plan(text, name="plan", directory=Path.cwd(), environ={})
    specs = {server.name: server for server in plan.servers}
    steps = tuple(recorded_step(trial, plan, specs[trial["server"]]) for trial in trials)
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    clock = Clock(steps, Timings(plan))
    clock.note_prepared()
    running, last_s = None, 0.0
    for step, trial in zip(steps, trials):
        if (step.server.key, trial["start"]) != running:
            running = step.server.key, trial["start"]
            clock.note_start(step.server, trial["began_s"] - last_s)
        clock.begin(step)
        now[0] = last_s = trial["ended_s"]
        clock.end()
        yield clock.total()


def recorded_step(trial: dict, plan: Plan, server: ServerSpec) -> Step:
    return Step(
        server=server,
        workload=replace(plan.workloads[0], name=trial["workload"]),
        connections=trial["connections"],
        rate_rps=trial["rate_rps"],
        duration_s=trial["duration_s"],
        requests=None,
        repeat=1,
        is_warmup=trial["is_warmup"],
    )


@pytest.mark.parametrize(
    ("p99_s", "text"),
    [
        # The load tool rounded it: it is not zero.
        (0.0, "p99 < 1 ms"),
        (0.0025, "p99 2.5 ms"),
        (0.9994, "p99 999 ms"),
        (0.9996, "p99 1 s"),
        (1.3504, "p99 1.35 s"),
        (2346.0, "p99 2,350 s"),
    ],
)
def test_a_latency_is_in_the_unit_that_suits_it(p99_s: float, text: str):
    assert progress.glance_text(Glance(p99_s=p99_s)) == text
