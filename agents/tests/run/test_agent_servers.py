"""The servers of a plan are started, restarted and told apart, and their failures are recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_fakes import FakeService, write_fake_wrk, write_plan
from plan_runs import only, run_plan

from loadsheet_agent.exits import Exit

pytestmark = pytest.mark.processes


def test_a_server_that_does_not_start_is_no_hole(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=1, connections="[1, 2, 3]", repeats=1, warmup_s=0)
    broken = (
        '[[servers]]\nname = "broken"\nstart = ["{python}", "-c", "raise SystemExit(\'no way\')"]\n'
        'url = "http://127.0.0.1:{port}"\n'
    )
    plan.write_text(plan.read_text() + broken)
    done = run_plan(plan, service, fake_wrk)
    assert done.returncode == Exit.TRIALS_FAILED
    trials = only(service).envelope["trials"]
    errors = [trial["error"] for trial in trials if trial["server"]["name"] == "broken"]
    assert errors[0] == (
        "server 'broken' ended with exit code 1 before it was ready; it printed: no way"
    )
    assert "not tried again after 2 failed starts" in errors[2]
    good = [trial for trial in trials if trial["server"]["name"] == "server 1"]
    assert [trial["error"] for trial in good] == [None] * 3


def test_a_server_that_dies_in_a_trial_is_told_and_started_again(
    service: FakeService, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=2, warmup_s=0, path="/die")
    # Asking for the size kills it too, so only the second trial is sure to begin well.
    done = run_plan(plan, service, write_fake_wrk(tmp_path, seconds=0.5))
    assert done.returncode == Exit.TRIALS_FAILED
    errors = [trial["error"] or "" for trial in only(service).envelope["trials"]]
    assert any("ended with exit code 9 during the trial" in error for error in errors)


def test_an_answer_of_another_size_than_planned_is_not_measured(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=1, warmup_s=0)
    plan.write_text(plan.read_text().replace('path = "/"', 'path = "/"\npayload_bytes = 14'))
    done = run_plan(plan, service, fake_wrk)
    assert done.returncode == Exit.TRIALS_FAILED
    assert "answers / with 13 bytes, the plan says 14" in done.stderr


def test_restart_gives_every_trial_a_fresh_server(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(
        tmp_path, servers=1, connections="[1]", repeats=2, more='restart = "each-trial"'
    )
    assert run_plan(plan, service, fake_wrk).returncode == Exit.OK
    assert [trial["warmup"] for trial in only(service).envelope["trials"]] == [1, 0, 1, 0]


def test_a_server_given_twice_is_started_and_recorded_as_two_sides(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(
        tmp_path, servers=1, connections="[1]", repeats=2, more='restart = "each-trial"\nseed = 1'
    )
    text = plan.read_text()
    plan.write_text(text + text[text.index("[[servers]]") :])
    assert run_plan(plan, service, fake_wrk).returncode == Exit.OK
    envelope = only(service).envelope
    trials = [trial for trial in envelope["trials"] if not trial["warmup"]]
    assert len({json.dumps(trial["server"]) for trial in trials}) == 1
    places = [(trial["repeat"], trial["load"]["side"]) for trial in trials]
    assert sorted(places) == [(1, "A"), (1, "B"), (2, "A"), (2, "B")]
    assert [side for _, side in places[:2]] == [side for _, side in places[:1:-1]]
    # A warm-up and its trial have the same process, and no two trials have.
    assert [trial["load"]["start"] for trial in envelope["trials"]] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert len({trial["command"][-1] for trial in trials}) == 2, "each side has its own port"
    assert set(envelope["run"]["server_tails"]) == {"server 1 (side A)", "server 1 (side B)"}


def test_a_server_that_already_runs_is_warmed_up_once_and_has_no_start(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=3)
    started = plan.read_text()
    url = f'url = "{service.url}"'
    lines = [line for line in started.splitlines() if not line.startswith("start")]
    plan.write_text("\n".join(lines).replace('url = "http://127.0.0.1:{port}"', url))
    done = run_plan(plan, service, fake_wrk)
    assert done.returncode == Exit.OK
    assert "estarting" not in done.stderr
    trials = only(service).envelope["trials"]
    assert [trial["warmup"] for trial in trials] == [True, False, False, False]
    assert {trial["load"]["start"] for trial in trials} == {None}
