"""A run tells how it goes: between its trials, never during one, and never at its own cost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from agent_fakes import (
    PATIENCE_S,
    FakeService,
    agent_command,
    run_agent,
    wait_until,
    write_fake_wrk,
    write_plan,
)

from loadsheet_agent.exits import Exit
from loadsheet_agent.upload.api_client import ApiClient
from loadsheet_agent.upload.early_trials import MOST_BYTES, EarlyTrials

pytestmark = pytest.mark.processes


def run_plan(plan: Path, service: FakeService, tool: str, *more: object):
    return run_agent("run", plan, "--tool-path", f"wrk={tool}", *service.flags, *more)


def seconds(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def test_a_word_before_each_trial_and_one_at_the_end(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    done = run_plan(write_plan(tmp_path, connections="[2]"), service, fake_wrk)
    assert done.returncode == Exit.OK, done.stderr
    (upload,) = service.uploads.values()
    trials = upload.envelope["trials"]
    words = [word["run"] for word in service.words]
    assert {word["id"] for word in words} == {upload.envelope["id"]}
    assert [word["state"] for word in words] == ["running"] * len(trials) + ["finished"]
    assert [word["trials_done"] for word in words] == list(range(len(trials) + 1))
    assert {word["trials_planned"] for word in words} == {len(trials)}
    assert words[0]["last"] is None
    assert words[1]["last"] == {"throughput_rps": 1000.0, "p99_us": 2000.0, "error_rate": 0.0}
    for word, trial in zip(words, trials):
        assert word["current"]["server"] == trial["server"]["name"]
        assert word["current"]["phase"] == trial["phase"]
        assert word["silent_s"] >= 1
    assert words[-1]["seconds_left"] is None
    assert {word["agent"]["name"] for word in service.words} == {"loadsheet-agent"}
    assert f"Results, live and afterwards: {service.url}/r/{upload.envelope['id']}" in done.stderr


def test_nothing_is_said_while_a_trial_is_measured(
    service: FakeService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=3, warmup_s=0)
    run_plan(plan, service, write_fake_wrk(tmp_path, seconds=0.3))
    (upload,) = service.uploads.values()
    spans = [
        (seconds(trial["started_at"]), seconds(trial["finished_at"]))
        for trial in upload.envelope["trials"]
    ]
    assert len(service.heard_at) == 4
    for began, ended in spans:
        # Times of trials have milliseconds.
        assert not [at for at in service.heard_at if began + 0.001 < at < ended - 0.001]


def test_a_service_that_does_not_listen_costs_one_try(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    service.hears = False
    began = time.monotonic()
    done = run_plan(write_plan(tmp_path, servers=1), service, fake_wrk)
    assert done.returncode == Exit.OK, done.stderr
    # On a busy machine the run outlasts the pause after the first try.
    assert len(service.words) <= 1 + (time.monotonic() - began) / ApiClient.FIRST_PAUSE_S
    assert len(service.uploads) == 1
    assert "7 progress reports did not reach the service (it answered 500)" in done.stderr


def test_without_an_address_nobody_is_told(service: FakeService, fake_wrk: str, tmp_path: Path):
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=1)
    run_agent("run", plan, "--tool-path", f"wrk={fake_wrk}")
    assert service.words == []


def test_an_interrupted_run_says_so_and_a_resumed_one_goes_on(service: FakeService, tmp_path: Path):
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=4, warmup_s=0)
    tool = write_fake_wrk(tmp_path, seconds=0.4)
    flags = ["--tool-path", f"wrk={tool}", *service.flags]
    process = subprocess.Popen(
        agent_command("run", plan, *flags), stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    wait_until(lambda: len(service.words) >= 3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
    assert service.words[-1]["run"]["state"] == "interrupted"
    before = len(service.words)
    done = run_agent("run", plan, *flags, "--resume", "--json")
    assert json.loads(done.stdout)["state"] == "parsed"
    later = [word["run"] for word in service.words[before:]]
    assert later[0]["trials_done"] == service.words[before - 1]["run"]["trials_done"]
    assert {word["trials_planned"] for word in later} == {4}
    assert later[-1]["state"] == "finished"


def test_each_trial_is_sent_as_it_ends_and_the_last_word_names_them(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    service.takes_early = True
    plan = write_plan(tmp_path, connections="[1]", warmup_s=0)
    done = run_plan(plan, service, fake_wrk, "--json")
    assert done.returncode == Exit.OK, done.stderr
    (last,) = service.uploads.values()
    run_id, trials = last.envelope["id"], last.envelope["trials"]
    assert len(service.early) == len(trials) == 4
    early = service.early.values()
    by_ordinal = {upload.envelope["trials"][0]["ordinal"]: upload for upload in early}
    for trial in trials[:-1]:
        upload = by_ordinal[trial["ordinal"]]
        assert trial["upload"] == upload.envelope["id"]
        assert trial["artefacts"] == []
        assert upload.envelope["run"]["id"] == run_id
        assert upload.envelope["run"]["plan_sha256"] == last.envelope["run"]["plan_sha256"]
        assert upload.envelope["hosts"] == last.envelope["hosts"]
        (sent,) = upload.envelope["trials"]
        assert {**sent, "artefacts": [], "upload": trial["upload"]} == trial
        assert set(upload.files) == set(sent["artefacts"])
    # No upload is without artefacts: the last trial brings its own in any case.
    assert list(last.files) == trials[-1]["artefacts"]
    assert last.envelope["run"]["id"] == run_id
    assert last.envelope["run"]["trials_planned"] == 4


def test_what_was_not_taken_early_comes_at_the_end(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    done = run_plan(write_plan(tmp_path, connections="[1]"), service, fake_wrk)
    assert done.returncode == Exit.OK, done.stderr
    (upload,) = service.uploads.values()
    assert not [trial for trial in upload.envelope["trials"] if trial.get("upload")]
    assert len(upload.files) == len(upload.envelope["trials"])


def test_a_run_that_was_sent_early_is_resumed_and_sends_hardly_any_trial_twice(
    service: FakeService, tmp_path: Path
):
    service.takes_early = True
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=5, warmup_s=0)
    tool = write_fake_wrk(tmp_path, seconds=0.4)
    flags = ["--tool-path", f"wrk={tool}", *service.flags]
    process = subprocess.Popen(
        agent_command("run", plan, *flags), stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    wait_until(lambda: len(service.early) >= 2)
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    assert service.uploads == {}
    done = run_agent("run", plan, *flags, "--resume", "--json")
    assert json.loads(done.stdout)["trials"] == 5
    (last,) = service.uploads.values()
    sent = [upload.envelope["trials"][0]["ordinal"] for upload in service.early.values()]
    assert sorted(sent) == list(range(5))
    # Beside the last trial, the one whose receipt the kill left no time to write down.
    assert last.envelope["trials"][0]["upload"]
    assert len(last.files) <= 2


def test_output_too_large_for_between_two_trials_waits_for_the_end(tmp_path: Path):
    client = Recorder()
    (tmp_path / "0.txt").write_bytes(os.urandom(MOST_BYTES + 1))
    (tmp_path / "1.txt").write_bytes(b"small")
    early = EarlyTrials(client, tmp_path, waits=False)
    assert not early.send({"id": "a"}, ["0.txt"])
    assert early.send({"id": "b"}, ["1.txt"])
    assert not early.send({"id": "c"}, [])
    assert client.asked == ["/api/v1/uploads"]


class Recorder:
    """A client whose every upload is taken."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ask(self, method: str, path: str, timeout_s: float, **content):
        self.asked.append(path)
        taken = json.loads(content["data"]["envelope"])["id"]
        return SimpleNamespace(json=lambda: {"id": taken})
