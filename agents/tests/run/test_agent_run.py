"""The whole agent as a process: a plan in, an upload out, and nothing lost on the way."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from agent_fakes import (
    PATIENCE_S,
    TOKEN,
    FakeService,
    Upload,
    agent_command,
    run_agent,
    write_fake_wrk,
    write_plan,
)

from loadsheet_agent.exits import Exit
from loadsheet_agent.tools import TOOLS
from loadsheet_agent.upload.spool import Spool

pytestmark = pytest.mark.processes


def only(service: FakeService) -> Upload:
    (upload,) = service.uploads.values()
    return upload


def run_plan(plan: Path, service: FakeService, tool: str, *more: object):
    flags = ["--tool-path", f"wrk={tool}", *service.flags, *more]
    return run_agent("run", plan, *flags)


def left_over(plan: Path) -> list[str]:
    """Command lines of servers of this plan that still run."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(plan.parent / "hello.py") in line and process.info["status"] != "zombie":
            found.append(line)
    return found


def wait_for_none(plan: Path) -> list[str]:
    until = time.monotonic() + PATIENCE_S
    while left_over(plan) and time.monotonic() < until:
        time.sleep(0.05)
    return left_over(plan)


def test_a_plan_becomes_one_upload(service: FakeService, fake_wrk: str, tmp_path: Path):
    plan = write_plan(tmp_path)
    done = run_plan(plan, service, fake_wrk, "--json")
    assert done.returncode == Exit.OK, done.stderr
    upload = only(service)
    envelope = upload.envelope
    answer = json.loads(done.stdout)
    assert answer["result_url"] == f"{service.url}/u/{envelope['id']}"
    assert (answer["trials"], answer["failed_trials"], answer["state"]) == (12, 0, "parsed")

    assert envelope["schema"] == 1
    assert envelope["run"]["plan"] == plan.read_text()
    assert envelope["run"]["labels"] == {"why": "test"}
    assert envelope["run"]["interrupted"] is False
    assert envelope["same_host"] is True
    assert envelope["hosts"]["client"]["memory_bytes"] > 0
    assert "ip_local_port_range" in envelope["hosts"]["server"]["facts"]

    trials = envelope["trials"]
    assert [trial["ordinal"] for trial in trials] == list(range(12))
    assert sum(trial["warmup"] for trial in trials) == 4
    # The seed draws the order of the servers: the last trial may be of either.
    last = trials[-1]
    number = int(last["server"]["name"].removeprefix("server "))
    assert {trial["server"]["name"] for trial in trials} == {"server 1", "server 2"}
    assert last["server"]["version"] == f"1.{number}"
    assert last["server"]["runtime"].startswith("CPython 3.")
    assert last["server"]["configuration"] == {"number": number}
    assert last["workload"]["payload_bytes"] == 13
    assert last["load"]["tool_version"] == "4.9.9"
    assert last["load"]["connections"] == 2
    assert last["command"][:4] == ["wrk", "-t1", "-c2", "-d1s"]
    assert (last["repeat"], last["exit_code"], last["error"]) == (2, 0, None)
    assert last["resources"]["client_cpu_s"] > 0
    assert last["resources"]["server_cpu_s"] >= 0
    assert last["resources"]["server_rss_bytes"] > 1_000_000
    assert last["started_at"] <= last["finished_at"]
    assert last["artefacts"] == ["011-stdout.txt"]
    assert upload.files["011-stdout.txt"].endswith(b"end\n")
    assert set(upload.files) == {name for trial in trials for name in trial["artefacts"]}
    assert upload.token == TOKEN
    assert wait_for_none(plan) == []
    assert Spool(tmp_path / "spool").notes() == []


def test_progress_is_one_line_per_trial_when_nobody_watches(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    done = run_plan(write_plan(tmp_path, repeats=1, warmup_s=0), service, fake_wrk)
    lines = [line for line in done.stderr.splitlines() if line.startswith("[")]
    assert len(lines) == 4
    assert re.match(r"\[1/4\] server [12] · hello · 1 connection · repeat 1/1", lines[0])
    assert done.stdout == f"Result: {service.url}/u/{only(service).envelope['id']}\n"


def test_a_tool_that_crashes_leaves_a_trial_with_its_error(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=1, repeats=2, warmup_s=0, path="/crash")
    done = run_plan(plan, service, fake_wrk)
    assert done.returncode == Exit.TRIALS_FAILED
    trials = only(service).envelope["trials"]
    assert [trial["exit_code"] for trial in trials] == [3, 3, 3, 3]
    assert trials[0]["error"] == "wrk ended with exit code 3: fake: cannot go on"
    assert trials[0]["artefacts"] == ["000-stderr.txt"]
    assert "4 with an error" in done.stderr


def test_a_run_without_any_output_is_kept_not_sent(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=1, repeats=1, warmup_s=0, path="/silent")
    done = run_plan(plan, service, fake_wrk, "--json")
    assert done.returncode == Exit.TRIALS_FAILED
    assert service.posts == 0
    assert "ended with exit code 0 but printed nothing" in json.loads(done.stdout)["detail"]
    assert [note.state for note in Spool(tmp_path / "spool").notes()] == ["rejected"]


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
    assert run_plan(plan, service, fake_wrk).returncode == Exit.OK
    trials = only(service).envelope["trials"]
    assert [trial["warmup"] for trial in trials] == [True, False, False, False]
    assert {trial["load"]["start"] for trial in trials} == {None}


def test_plan_errors_run_nothing(fake_wrk: str, tmp_path: Path):
    plan = write_plan(tmp_path, tool="jmeter")
    done = run_agent("run", plan, "--json")
    assert done.returncode == Exit.PLAN
    assert done.stderr == (
        "loadsheet: plan.toml: [load]: tool is 'jmeter'; expected one of "
        f"auto, {', '.join(TOOLS)}.\n"
    )
    assert json.loads(done.stdout)["exit_code"] == Exit.PLAN
    assert not (tmp_path / "spool").exists()


def test_a_file_is_uploaded_with_what_the_sender_says(service: FakeService, tmp_path: Path):
    (tmp_path / "one").mkdir()
    for path in (tmp_path / "ab.txt", tmp_path / "one" / "ab.txt"):
        path.write_text(f"This is ApacheBench {path}")
    done = run_agent(
        "upload", tmp_path / "ab.txt", tmp_path / "one" / "ab.txt", "--tool", "ab", *service.flags
    )
    assert done.returncode == Exit.OK, done.stderr
    upload = only(service)
    assert sorted(upload.files) == ["ab-2.txt", "ab.txt"]
    assert "trials" not in upload.envelope
    assert upload.fields["tool"] == "ab"


def test_upload_mistakes_are_told_before_anything_is_kept(tmp_path: Path):
    (tmp_path / "empty.txt").write_text("")
    flags = ["--url", "http://127.0.0.1:9", "--token", TOKEN]
    for name, words in (("none.txt", "is not a file"), ("empty.txt", "is empty")):
        done = run_agent("upload", tmp_path / name, *flags)
        assert done.returncode == Exit.USAGE
        assert words in done.stderr
    assert "set LOADSHEET_URL" in run_agent("upload", tmp_path / "x").stderr
    assert not (tmp_path / "spool").exists()


def test_help_is_quick_because_it_imports_nothing_heavy():
    script = (
        "import sys\nfrom loadsheet_agent.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'httpx', 'rich', 'psutil', 'tomllib', 'tomli'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "130 interrupted" in done.stdout


@pytest.mark.parametrize("tool", ["wrk", "ab"])
def test_a_real_load_tool_from_plan_to_upload(service: FakeService, tmp_path: Path, tool: str):
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    plan = write_plan(tmp_path, servers=1, connections="[2]", repeats=1, warmup_s=0, tool=tool)
    done = run_agent("run", plan, *service.flags)
    assert done.returncode == Exit.OK, done.stderr
    upload = only(service)
    (trial,) = upload.envelope["trials"]
    assert trial["load"]["tool_version"]
    text = upload.files["000-stdout.txt"].decode()
    assert ("Requests/sec" in text) or ("Complete requests" in text)
    if tool == "ab":
        assert trial["artefacts"] == ["000-stdout.txt", "000-plot.tsv", "000-percentiles.csv"]


def test_the_live_bar_draws_in_a_terminal(service: FakeService, fake_wrk: str, tmp_path: Path):
    import pty

    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=2, warmup_s=0)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        agent_command("run", plan, "--tool-path", f"wrk={fake_wrk}", *service.flags),
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(theirs)
    drawn = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # Linux tells the end of a terminal this way
            break
        if not piece:
            break
        drawn += piece
    os.close(ours)
    assert process.wait(PATIENCE_S) == Exit.OK
    assert b"2/2" in drawn
    assert "server 1 · hello · 1 connection · repeat 2/2".encode() in drawn
