"""Runs that go on, end early, adapt, search and keep secrets: the agent as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from agent_fakes import (
    PATIENCE_S,
    FakeService,
    Upload,
    agent_command,
    run_agent,
    write_fake_wrk,
    write_plan,
)

from loadsheet_agent import cli
from loadsheet_agent.exits import Exit
from loadsheet_agent.run import probe, rules, servers
from loadsheet_agent.upload.spool import Spool

pytestmark = pytest.mark.processes


def only(service: FakeService) -> Upload:
    (upload,) = service.uploads.values()
    return upload


def flags(tool: str, service: FakeService, name: str = "wrk") -> list[str]:
    return ["--tool-path", f"{name}={tool}", *service.flags]


def change(plan: Path, old: str, new: str) -> None:
    text = plan.read_text()
    assert old in text
    plan.write_text(text.replace(old, new))


def interrupt_after(lines: int, command: list[str], number: int) -> None:
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    seen = 0
    for line in process.stderr:
        seen += line.startswith("[")
        if seen == lines:
            process.send_signal(number)
            break
    process.stderr.read()
    process.wait(30)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_goes_on_where_it_was(
    service: FakeService, fake_wrk: str, tmp_path: Path, number: int
):
    plan = write_plan(tmp_path, more='order = "randomised"')
    command = agent_command("run", plan, *flags(fake_wrk, service))
    interrupt_after(5, command, number)
    assert service.posts == 0
    (note,) = Spool(tmp_path / "spool").notes()
    assert note.trials >= 5
    done = run_agent("run", plan, "--resume", *flags(fake_wrk, service), "--json")
    assert done.returncode == Exit.OK, done.stderr
    envelope = only(service).envelope
    assert envelope["id"] == note.id
    assert envelope["run"]["interrupted"] is False
    kinds = [event["kind"] for event in envelope["run"]["events"]]
    assert kinds.count("resumed") == 1
    assert set(kinds) <= {"resumed", "restarts"}
    trials = envelope["trials"]
    assert [trial["ordinal"] for trial in trials] == list(range(len(trials)))
    measured = [trial for trial in trials if not trial["warmup"]]
    keys = {
        (trial["server"]["name"], trial["load"]["connections"], trial["repeat"])
        for trial in measured
    }
    assert len(keys) == len(measured) == 8, "each trial of the plan once"
    # The servers were started again, so what is measured on them was warmed up again.
    later = trials[note.trials :]
    assert later[0]["warmup"] or trials[note.trials - 1]["warmup"]
    assert Spool(tmp_path / "spool").notes() == []


def test_what_cannot_be_resumed_is_told(service: FakeService, fake_wrk: str, tmp_path: Path):
    plan = write_plan(tmp_path, servers=1, repeats=3)
    more = flags(fake_wrk, service)
    done = run_agent("run", plan, "--resume", *more)
    assert done.returncode == Exit.USAGE
    assert "no interrupted run of this plan waits" in done.stderr
    interrupt_after(2, agent_command("run", plan, *more), signal.SIGINT)
    (entry,) = Spool(tmp_path / "spool").entries()
    before = plan.read_text()
    plan.write_text(before + "\n# changed\n")
    assert run_agent("run", plan, "--resume", *more).returncode == Exit.USAGE
    plan.write_text(before)
    assert run_agent("run", plan, "--resume", "0" * 8, *more).returncode == Exit.USAGE
    envelope = json.loads((entry.directory / "envelope.json").read_text())
    envelope["hosts"]["client"]["kernel"] = "Linux 2.4"
    (entry.directory / "envelope.json").write_text(json.dumps(envelope))
    done = run_agent("run", plan, "--resume", *more)
    assert done.returncode == Exit.USAGE
    assert "kernel was 'Linux 2.4'" in done.stderr
    assert service.posts == 0


def test_too_many_errors_end_the_plan_by_rule(service: FakeService, fake_wrk: str, tmp_path: Path):
    plan = write_plan(
        tmp_path, servers=1, warmup_s=0, path="/errors", more="[abort]\nerror_rate = 0.5"
    )
    done = run_agent("run", plan, *flags(fake_wrk, service), "--json")
    assert done.returncode == Exit.STOPPED
    envelope = only(service).envelope
    assert len(envelope["trials"]) == 1
    assert envelope["run"]["interrupted"] is True
    assert "60.0% of the requests failed at server 'server 1'" in envelope["run"]["stopped"]
    assert [event["kind"] for event in envelope["run"]["events"]] == ["stopped"]
    assert json.loads(done.stdout)["stopped"] == envelope["run"]["stopped"]


def test_the_time_of_a_plan_can_be_over(service: FakeService, tmp_path: Path):
    plan = write_plan(tmp_path, servers=1, warmup_s=0, more="[abort]\nwall_clock_s = 0.6")
    done = run_agent("run", plan, *flags(write_fake_wrk(tmp_path, seconds=0.5), service))
    assert done.returncode == Exit.STOPPED
    assert 1 <= len(only(service).envelope["trials"]) < 4
    assert "the plan's time is over" in done.stderr


@pytest.mark.parametrize(
    ("rule", "trials", "code"),
    [
        ('on_server_death = "stop"', 1, Exit.STOPPED),
        ("[abort]\nserver_deaths = 2", 2, Exit.STOPPED),
        ('on_server_death = "restart"', 4, Exit.TRIALS_FAILED),
    ],
)
def test_a_server_that_dies_follows_the_rule(
    service: FakeService, tmp_path: Path, rule: str, trials: int, code: Exit
):
    plan = write_plan(
        tmp_path, servers=1, connections="[1]", repeats=4, warmup_s=0, path="/die", more=rule
    )
    change(
        plan, 'path = "/die"', 'path = "/die"\nmethod = "DELETE"'
    )  # else it is asked for its size
    change(
        plan.parent / "hello.py",
        "def do_GET",
        "def do_DELETE(self):\n        self.do_GET()\n    def do_GET",
    )
    done = run_agent("run", plan, *flags(write_fake_wrk(tmp_path, seconds=0.5), service))
    assert done.returncode == code, done.stderr
    run = only(service).envelope["run"]
    deaths = [event for event in run["events"] if event["kind"] == "server-death"]
    assert len(deaths) == len(only(service).envelope["trials"]) == trials
    assert "ended with exit code 9 during the trial" in deaths[0]["text"]
    restarts = [event for event in run["events"] if event["kind"] == "server-restart"]
    assert len(restarts) == trials - 1


# Answers until a load tool asked it once, then accepts connections and answers nothing.
HANGING_SERVER = """
import sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
hung = threading.Event()
class Hello(BaseHTTPRequestHandler):
    def do_GET(self):
        if hung.is_set():
            time.sleep(60)
        if self.headers["User-Agent"].startswith("fake-wrk"):
            hung.set()
        self.send_response(200)
        self.send_header("Content-Length", "13")
        self.end_headers()
        self.wfile.write(b"Hello, world!")
    def log_message(self, *args):
        pass
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Hello).serve_forever()
"""


def test_a_full_disk_ends_a_run_that_goes_on_once_there_is_room(
    service: FakeService,
    fake_wrk: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    free_bytes = [rules.LEAST_FREE_BYTES] * 2 + [rules.LEAST_FREE_BYTES - 1]
    monkeypatch.setattr(
        rules.shutil, "disk_usage", lambda _: SimpleNamespace(free=free_bytes.pop(0))
    )
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=4, warmup_s=0)
    command = ["run", str(plan), "--tool-path", f"wrk={fake_wrk}", *service.flags]
    assert cli.main(command) != Exit.OK
    assert "only 255 MiB are free" in capsys.readouterr().err
    free_bytes += [rules.LEAST_FREE_BYTES] * 2
    assert cli.main([*command, "--resume"]) == Exit.OK
    trials = only(service).envelope["trials"]
    assert [trial["repeat"] for trial in trials] == [1, 2, 3, 4]


def test_a_server_that_hangs_is_told_and_started_anew(
    service: FakeService, fake_wrk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(servers, "ANSWER_LIMIT_S", 0.5)
    monkeypatch.setattr(probe, "TIMEOUT_S", 1.0)
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=2, warmup_s=0, path="/errors")
    (tmp_path / "hello.py").write_text(HANGING_SERVER)
    code = cli.main(["run", str(plan), "--tool-path", f"wrk={fake_wrk}", *service.flags])
    assert code == Exit.TRIALS_FAILED
    (upload,) = service.uploads.values()
    trials = upload.envelope["trials"]
    assert [trial["resources"]["server_answers_after"] for trial in trials] == [False, False]
    assert [trial["load"]["start"] for trial in trials] == [1, 2]
    assert all("'server 1' hung: after the trial it did not" in trial["error"] for trial in trials)
    events = [event["kind"] for event in upload.envelope["run"]["events"]]
    assert events.count("server-hung") == 2


def test_a_server_that_fails_requests_and_answers_does_not_hang(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=1, warmup_s=0, path="/errors")
    run_agent("run", plan, "--tool-path", f"wrk={fake_wrk}", *service.flags)
    (upload,) = service.uploads.values()
    (trial,) = upload.envelope["trials"]
    assert trial["resources"]["server_answers_after"] is True
    assert trial["error"] is None


def test_an_adaptive_plan_stops_repeating_when_repeats_agree(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=2, connections="[1]", repeats=2, warmup_s=0)
    plan.write_text(plan.read_text() + "\n[adaptive]\nmost_repeats = 9\n")
    done = run_agent("run", plan, *flags(fake_wrk, service))
    assert done.returncode == Exit.OK, done.stderr
    assert "7 to 9 repeats: 14 to 18 trials" in done.stderr
    assert "7 repeats first, then as many as ±2 % needs, at most 9." in done.stderr
    assert len(only(service).envelope["trials"]) == 14
    assert "1,000/s · p99 2 ms" in done.stderr


def test_a_search_for_the_highest_rate(service: FakeService, fake_wrk: str, tmp_path: Path):
    plan = write_plan(tmp_path, servers=2, repeats=2, warmup_s=1, tool="wrk2", path="/limit")
    change(plan, "connections = [1, 2]", "connections = [4]")
    plan.write_text(
        plan.read_text() + "\n[max_rate]\np99_ms = 50\nsearch_duration_s = 1\nprecision = 0.1\n"
    )
    done = run_agent("run", plan, *flags(fake_wrk, service, "wrk2"), "--json")
    assert done.returncode == Exit.OK, done.stderr
    envelope = only(service).envelope
    found = envelope["run"]["max_rates"]
    assert [each["server"] for each in found] == ["server 1", "server 2"]
    assert all(each["confirmed"] and 360 <= each["rate_rps"] <= 400 for each in found)
    phases = [trial["phase"] for trial in envelope["trials"]]
    assert phases.count("confirm") == 4
    assert phases.count("warmup") == 2
    for trial in envelope["trials"]:
        assert trial["warmup"] == (trial["phase"] != "confirm")
        assert trial["load"]["loop"] == "open"
    assert "server 1 · hello: 4" in done.stderr or "server 1 · hello: 3" in done.stderr


def test_secrets_of_a_plan_reach_the_server_and_nothing_else(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    hidden = ["hush-hush-42", "s1gn4ture", "t0ken-in-the-plan", "db-pass-w0rd"]
    plan = write_plan(
        tmp_path, servers=1, connections="[1]", repeats=1, warmup_s=0, path="/echo?sig=s1gn4ture"
    )
    change(
        plan,
        'name = "hello"',
        'name = "hello"\nheaders = { Authorization = "Bearer {env:APP_TOKEN}", '
        '"X-Api-Key" = "t0ken-in-the-plan", Accept = "a/b" }',
    )
    change(
        plan, 'version = "1.1"', 'version = "1.1"\nenvironment = { DB_PASSWORD = "db-pass-w0rd" }'
    )
    change(
        plan.parent / "hello.py",
        "import os, sys, threading",
        "import os, sys, threading\nprint('up with', os.environ['DB_PASSWORD'], flush=True)",
    )
    done = run_agent("run", plan, *flags(fake_wrk, service), "--json", APP_TOKEN="hush-hush-42")
    assert done.returncode == Exit.OK, done.stderr
    upload = only(service)
    kept = json.dumps(upload.envelope) + done.stdout + done.stderr
    kept += "".join(text.decode() for text in upload.files.values())
    for value in hidden:
        assert value not in kept
    (trial,) = upload.envelope["trials"]
    assert trial["workload"]["headers"] == {
        "Authorization": "[redacted]",
        "X-Api-Key": "[redacted]",
        "Accept": "a/b",
    }
    printed = upload.files["000-stdout.txt"].decode()
    assert "'Authorization': '[redacted]'" in printed
    assert "'Accept': 'a/b'" in printed
    assert "Requests/sec: 1000.00" in printed
    assert upload.envelope["run"]["server_tails"] == {"server 1": "up with [redacted]"}


def test_evidence_travels_with_the_run(service: FakeService, fake_wrk: str, tmp_path: Path):
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=1, warmup_s=0)
    assert run_agent("run", plan, *flags(fake_wrk, service)).returncode == Exit.OK
    envelope = only(service).envelope
    facts = envelope["hosts"]["client"]["facts"]
    assert len(facts["tool_sha256"]) == 64
    assert facts["calibration"]["sha256_mib_s"] > 0
    assert abs(facts["clock"]["offset_s"]) <= facts["clock"]["uncertainty_s"]
    resources = envelope["trials"][0]["resources"]
    assert resources["server_threads_peak"] >= 1
    assert resources["server_rss_peak_bytes"] >= resources["server_rss_bytes"]
    assert envelope["run"]["seed"] >= 0
    service_side = pytest.importorskip("backend.ingest.envelope.envelope")
    (read,) = service_side.read_envelope(envelope).trials
    assert read.resources == resources


def test_a_daemon_is_stopped_the_way_the_plan_says(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=1, warmup_s=0)
    (tmp_path / "daemon.py").write_text(
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, *sys.argv[1:]], start_new_session=True)\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
    )
    (tmp_path / "stop.py").write_text(
        f"import os, signal\nos.kill(int(open({str(tmp_path / 'pid')!r}).read()), signal.SIGTERM)\n"
    )
    change(plan, 'start = ["{python}", ', 'start = ["{python}", "{here}/daemon.py", ')
    change(plan, "ready_timeout_s", 'stop = ["{python}", "{here}/stop.py"]\nready_timeout_s')
    done = run_agent("run", plan, *flags(fake_wrk, service))
    assert done.returncode == Exit.OK, done.stderr
    assert only(service).envelope["trials"][0]["error"] is None
    pid = int((tmp_path / "pid").read_text())
    until = time.monotonic() + PATIENCE_S
    while _runs(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_a_server_is_ready_when_it_answers_as_the_plan_says(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=1, warmup_s=0)
    change(
        plan, "ready_timeout_s = 20", 'ready_path = "/up"\nready_status = 204\nready_timeout_s = 5'
    )
    done = run_agent("run", plan, *flags(fake_wrk, service))
    assert done.returncode == Exit.TRIALS_FAILED
    assert "answered 200, not 204, at http://127.0.0.1:" in done.stderr
    assert os.listdir(tmp_path / "spool") == ["rejected"]
