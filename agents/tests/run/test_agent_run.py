"""The whole agent as a process: a plan or a file in, an upload out."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from agent_fakes import PATIENCE_S, TOKEN, FakeService, agent_command, run_agent, write_plan
from plan_runs import only, run_plan, wait_for_none

from loadsheet_agent.exits import Exit
from loadsheet_agent.tools import TOOLS
from loadsheet_agent.upload.spool import Spool

pytestmark = pytest.mark.processes


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
