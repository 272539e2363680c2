"""Time left: learned from the trials of this run and of earlier ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loadsheet_agent.plan.expansion import expand
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.reading import parse_plan
from loadsheet_agent.plan.steps import Step
from loadsheet_agent.run import progress
from loadsheet_agent.run.progress import Clock
from loadsheet_agent.run.summary import summarise
from loadsheet_agent.run.timings import FILE, MOST_KEPT, Timings, read_timings

SERVERS = "".join(
    f'[[servers]]\nname = "{name}"\nurl = "http://127.0.0.1:{{port}}"\nstart = ["x"]\n'
    for name in ("quick", "slow")
)
# Seconds of a trial with 1,000 requests.
LENGTHS = {"quick": 1.0, "slow": 9.0}


def plan_of(load: str, repeats: int = 5) -> Plan:
    text = (
        f"repeats = {repeats}\nwarmup_s = 0\nrest_s = 0\n[load]\nconnections = [1, 8]\n{load}\n"
        f'{SERVERS}[[workloads]]\nname = "hello"\n'
    )
    return parse_plan(text, name="plan", directory=Path.cwd(), environ={})


class Run:
    """Carries out steps on a clock that the test turns."""

    def __init__(self, plan: Plan, timings: Timings, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(progress.time, "monotonic", lambda: self.now)
        self.steps = expand(plan)
        self.clock = Clock(self.steps, timings)

    def take(self, step: Step, seconds: float) -> None:
        self.now += 0.1
        self.clock.begin(step)
        self.now += seconds - 0.1
        self.clock.end()


def take_all(run: Run, count: int) -> float:
    """Seconds of the steps after the first `count`, which are carried out."""
    for step in run.steps[:count]:
        run.take(step, LENGTHS[step.server.name])
    return sum(LENGTHS[step.server.name] for step in run.steps[count:])


def test_trials_with_a_number_of_requests_are_estimated_once_each_server_was_measured(monkeypatch):
    run = Run(plan_of("requests = 1000"), Timings(), monkeypatch)
    assert run.clock.left_s() is None
    assert run.clock.left() == "? left"
    # One round: both servers at one load. The other load is taken to be alike.
    left = take_all(run, 2)
    assert run.clock.left_s() == pytest.approx(left, rel=0.2)
    assert run.clock.count == 20


def test_the_running_trial_counts_down(monkeypatch):
    run = Run(plan_of("requests = 1000"), Timings(), monkeypatch)
    left = take_all(run, 10)
    run.clock.begin(run.steps[10])
    run.now += 0.4
    assert run.clock.left_s() == pytest.approx(left - 0.4)
    assert run.clock.total() == pytest.approx(run.clock.position() + left - 0.4)


def test_starts_and_rests_are_learned_for_trials_with_a_duration(monkeypatch):
    run = Run(plan_of("duration_s = 2"), Timings(), monkeypatch)
    assert run.clock.left_s() == pytest.approx(20 * (2 + progress.EXTRA_S))
    for step in run.steps[:4]:
        run.take(step, 5.0)
    assert run.clock.left_s() == pytest.approx(16 * 5.0)


def test_a_dropped_trial_takes_no_time(monkeypatch):
    run = Run(plan_of("requests = 1000"), Timings(), monkeypatch)
    left = take_all(run, 18)
    run.clock.drop(run.steps[18])
    assert run.clock.left_s() == pytest.approx(left - LENGTHS[run.steps[18].server.name])


def test_a_trial_that_was_not_planned_takes_the_place_of_one_that_was(monkeypatch):
    run = Run(plan_of("duration_s = 2", repeats=1), Timings(), monkeypatch)
    for step in run.steps:
        run.take(replace(step, rate_rps=77.0), 2.0)
    assert run.clock.left_s() == 0


def test_an_earlier_run_tells_the_time_before_the_first_trial(monkeypatch, tmp_path: Path):
    plan = plan_of("requests = 1000")
    timings = read_timings(plan, tmp_path)
    run = Run(plan, timings, monkeypatch)
    whole = sum(LENGTHS[step.server.name] for step in run.steps)
    take_all(run, len(run.steps))
    timings.save(tmp_path)
    again = Run(plan, read_timings(plan, tmp_path), monkeypatch)
    assert again.clock.left_s() == pytest.approx(whole)
    monkeypatch.setenv("LOADSHEET_CACHE", str(tmp_path))
    assert "about 1:40" in summarise(plan, again.steps, again.steps, None)


def test_what_was_measured_with_other_rests_or_requests_says_nothing(monkeypatch, tmp_path: Path):
    plan = plan_of("requests = 1000")
    timings = read_timings(plan, tmp_path)
    take_all(Run(plan, timings, monkeypatch), 20)
    timings.save(tmp_path)
    for other in (replace(plan, rest_s=3.0), plan_of("requests = 500")):
        assert read_timings(other, tmp_path).total(expand(other)) is None


@pytest.mark.parametrize("text", ["", "[1]", '{"a": "b"}', '{"a": true}', "\0"])
def test_a_broken_file_of_timings_is_none(tmp_path: Path, text: str):
    (tmp_path / FILE).write_text(text)
    assert read_timings(plan_of("requests = 5"), tmp_path).earlier == {}


def test_only_the_newest_timings_are_kept(monkeypatch, tmp_path: Path):
    plan = plan_of("requests = 1000")
    timings = Timings("", {str(number): 1.0 for number in range(MOST_KEPT)})
    take_all(Run(plan, timings, monkeypatch), 4)
    timings.save(tmp_path)
    kept = read_timings(plan, tmp_path).earlier
    assert len(kept) == MOST_KEPT
    assert "0" not in kept
    assert any("slow" in kind for kind in kept)
