"""An agent that is stopped or cannot upload leaves no server and loses no finished trial."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from agent_fakes import (
    PATIENCE_S,
    TOKEN,
    FakeService,
    agent_command,
    run_agent,
    write_fake_wrk,
    write_plan,
)
from plan_runs import only, wait_for_none

from loadsheet_agent.exits import Exit
from loadsheet_agent.upload.spool import Spool

pytestmark = pytest.mark.processes


def test_without_an_address_the_run_waits_in_the_spool(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=1, repeats=1)
    done = run_agent("run", plan, "--tool-path", f"wrk={fake_wrk}")
    assert done.returncode == Exit.OK
    assert "nothing was uploaded" in done.stderr
    sent = run_agent("spool", "retry", LOADSHEET_URL=service.url, LOADSHEET_TOKEN=TOKEN)
    assert sent.returncode == Exit.OK
    assert len(only(service).envelope["trials"]) == 4
    assert run_agent("spool").stdout.startswith("Nothing waits")


def test_a_service_away_keeps_the_run_for_later(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=1, warmup_s=0)
    flags = ["--tool-path", f"wrk={fake_wrk}", "--url", "http://127.0.0.1:9", "--token", TOKEN]
    done = run_agent("run", plan, *flags, "--max-wait", 0)
    assert done.returncode == Exit.SPOOLED
    assert "loadsheet spool retry" in done.stderr
    assert run_agent("spool", "retry", *service.flags).returncode == Exit.OK
    assert len(service.uploads) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_finished(
    service: FakeService, tmp_path: Path, number: signal.Signals
):
    plan = write_plan(tmp_path, servers=2, repeats=50)
    tool = write_fake_wrk(tmp_path, seconds=0.1)
    process = subprocess.Popen(
        agent_command("run", plan, "--tool-path", f"wrk={tool}", *service.flags),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("[  4/"):
            break
    process.send_signal(number)
    rest = process.stderr.read()
    assert process.wait(PATIENCE_S) == Exit.INTERRUPTED
    # On a busy machine more trials end before the signal comes.
    told = 4 + sum(line.startswith("[") for line in rest.splitlines())
    counted = re.search(r"Interrupted: (\d+) of 204 trials and warm-ups had finished", rest)
    assert counted
    assert told <= int(counted[1]) <= told + 1
    assert wait_for_none(plan) == []
    assert service.posts == 0
    (note,) = Spool(tmp_path / "spool").notes()
    assert (note.state, note.interrupted) == ("waiting", True)
    assert run_agent("spool", "retry", *service.flags).returncode == Exit.OK
    assert only(service).envelope["run"]["interrupted"] is True
    assert len(only(service).envelope["trials"]) == note.trials


@pytest.mark.parametrize("seed", range(5))
def test_a_kill_at_any_moment_loses_no_finished_trial(
    service: FakeService, tmp_path: Path, seed: int
):
    plan = write_plan(tmp_path, servers=2, connections="[1]", repeats=60, warmup_s=0)
    tool = write_fake_wrk(tmp_path, seconds=0)
    process = subprocess.Popen(
        agent_command("run", plan, "--tool-path", f"wrk={tool}"),
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(0.4 + random.Random(seed).random() * 1.5)
    process.send_signal(signal.SIGKILL)
    _, told = process.communicate(timeout=PATIENCE_S)
    finished = sum(line.startswith("[") for line in told.splitlines())
    assert wait_for_none(plan) == [], "servers end with the agent, even by kill -9"
    done = run_agent("spool", "retry", *service.flags)
    assert done.returncode == Exit.OK, done.stderr
    assert run_agent("spool").stdout.startswith("Nothing waits")
    if not service.uploads:
        assert finished == 0
        return
    envelope = only(service).envelope
    assert envelope["run"]["interrupted"] is True
    # The line is printed after the commit, so one trial may be safe and not yet told.
    assert finished <= len(envelope["trials"]) <= finished + 1
    for trial in envelope["trials"]:
        assert only(service).files[trial["artefacts"][0]].endswith(b"end\n")
