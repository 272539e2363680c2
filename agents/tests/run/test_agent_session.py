"""Agents that attack together wait for each other, and what one cannot do as one is refused."""

from __future__ import annotations

import json
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace

import pytest
from agent_fakes import (
    HELLO_SERVER,
    PATIENCE_S,
    FakeService,
    agent_command,
    run_agent,
    write_plan,
)

from loadsheet_agent.errors import PlanStoppedError, UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.plan.reading import read_plan
from loadsheet_agent.run import session as session_module
from loadsheet_agent.run.free_ports import free_ports
from loadsheet_agent.run.session import Session, check_plan
from loadsheet_agent.upload.target import Target

RECORD = SimpleNamespace(id="r1", plan_sha256="0" * 64, seed=7, session={"name": "big", "parts": 2})


class Answers:
    """The service's answers in their order; the last one stays."""

    def __init__(self, *answers: tuple[int, dict]) -> None:
        self.answers = list(answers)
        self.asked: list[dict] = []

    def post(self, url: str, *, json: dict, timeout: float):
        self.asked.append(json)
        status, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return SimpleNamespace(status_code=status, json=lambda: body)


def waiting(seats: int = 1) -> tuple[int, dict]:
    return 200, {"seats": seats, "parts": 2, "seed": 41, "starts_at": None}


def starting(at_s: float) -> tuple[int, dict]:
    moment = datetime.fromtimestamp(at_s, timezone.utc).isoformat()
    return 200, {"seats": 2, "parts": 2, "seed": 41, "starts_at": moment}


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch):
    """A session of these answers whose clock moves only by sleeping: it is 1000 s here."""

    def made(*answers: tuple[int, dict], offset_s: float = 0.0):
        client, now, slept = Answers(*answers), [1000.0], []

        def sleep(seconds: float) -> None:
            slept.append(seconds)
            now[0] += seconds

        monkeypatch.setattr(session_module, "open_client", lambda _: client)
        target = Target("http://127.0.0.1:9", "t")
        found = Session(target, RECORD, offset_s, sleep=sleep, clock=lambda: now[0])
        return found, client, slept, now

    return made


def test_the_first_agents_seed_is_everybodys(make):
    session, client, _, _ = make(waiting())
    assert session.join() == 41
    assert client.asked[0]["step"] is None
    assert (client.asked[0]["name"], client.asked[0]["parts"]) == ("big", 2)


def test_it_waits_until_all_are_ready_and_then_for_the_moment(make):
    session, client, slept, now = make(waiting(), waiting(2), starting(1003.0))
    session.gather(5)
    assert [one["step"] for one in client.asked] == [5, 5, 5]
    assert slept[:2] == [0.25, 0.25]
    assert now[0] == pytest.approx(1003.0)


def test_the_moment_is_of_the_services_clock(make):
    session, _, _, now = make(starting(1503.0), offset_s=500.0)
    session.gather(0)
    assert now[0] == pytest.approx(1003.0)


def test_a_service_that_is_away_is_asked_again(make):
    session, client, _, _ = make((503, {}), starting(1001.0))
    session.gather(0)
    assert len(client.asked) == 2


def test_a_refusal_is_told(make):
    session, _, _, _ = make((409, {"detail": "All 2 agents of this session have come."}))
    with pytest.raises(UsageError, match="All 2 agents of this session have come"):
        session.join()


def test_who_waits_in_vain_ends_the_plan(make):
    session, _, _, _ = make(waiting())
    with pytest.raises(PlanStoppedError, match="were not ready for trial 3: 1 of 2 have a place"):
        session.gather(3)


def write_url_plan(directory: Path, url: str) -> Path:
    path = directory / "plan.toml"
    path.write_text(
        'repeats = 2\n[load]\ntool = "wrk"\nconnections = [1, 2]\nduration_s = 1\n'
        f'[[workloads]]\nname = "hello"\n[[servers]]\nname = "h"\nurl = "{url}"\n'
    )
    return path


def test_a_plan_that_agents_cannot_share_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="starts server 'server 1'"):
        check_plan(read_plan(write_plan(tmp_path)))
    more = "[adaptive]\ninterval = 0.1\n"
    with pytest.raises(UsageError, match="would choose other trials"):
        check_plan(read_plan(write_plan(tmp_path, more=more)))


@pytest.mark.processes
def test_half_a_session_is_refused(service: FakeService, fake_wrk: str, tmp_path: Path):
    plan = write_url_plan(tmp_path, "http://127.0.0.1:9")
    for flags in (["--session", "x"], ["--parts", "2"], ["--session", "x", "--parts", "1"]):
        done = run_agent("run", plan, "--tool-path", f"wrk={fake_wrk}", *flags, *service.flags)
        assert done.returncode == Exit.USAGE
        assert "a session needs both" in done.stderr
    flags = ["--session", "x", "--parts", "2"]
    done = run_agent("run", plan, "--tool-path", f"wrk={fake_wrk}", *flags)
    assert "a session needs the service" in done.stderr


@pytest.mark.processes
def test_two_agents_begin_each_trial_at_one_time(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    (tmp_path / "hello.py").write_text(HELLO_SERVER)
    import sys

    (port,) = free_ports(1)
    server = subprocess.Popen([sys.executable, str(tmp_path / "hello.py"), str(port)])
    try:
        plan = write_url_plan(tmp_path, f"http://127.0.0.1:{port}")
        flags = ["--session", "big", "--parts", 2, "--tool-path", f"wrk={fake_wrk}"]
        agents = [
            subprocess.Popen(
                agent_command(
                    *("run", plan, *flags, *service.flags, "--json"),
                    *("--spool", tmp_path / f"spool-{number}"),
                ),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for number in range(2)
        ]
        for agent in agents:
            output, said = agent.communicate(timeout=PATIENCE_S)
            assert json.loads(output)["state"] == "parsed", said
    finally:
        server.kill()
        server.wait()
    first, second = (upload.envelope for upload in service.uploads.values())
    assert first["run"]["session"] == second["run"]["session"] == {"name": "big", "parts": 2}
    assert first["run"]["seed"] == second["run"]["seed"]
    assert len(first["trials"]) == 4
    for one, two in zip(first["trials"], second["trials"]):
        assert one["load"]["connections"] == two["load"]["connections"]
        starts = service.starts[one["ordinal"]]
        for trial in (one, two):
            began = datetime.fromisoformat(trial["started_at"].replace("Z", "+00:00"))
            # Never before the moment they were told; times of trials have milliseconds.
            assert began.timestamp() >= starts - 0.01
