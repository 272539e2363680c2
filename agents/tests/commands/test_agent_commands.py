"""The commands around a run: login, status, doctor, plan, upload, spool drop, completion."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from agent_fakes import TOKEN, FakeService, Upload, run_agent, write_plan

from loadsheet_agent import cli
from loadsheet_agent.commands.arguments import completion_words
from loadsheet_agent.exits import Exit
from loadsheet_agent.run.timings import AROUND_S, START_S, VERSION_S
from loadsheet_agent.tools import TOOLS
from loadsheet_agent.upload.envelope import file_envelope
from loadsheet_agent.upload.spool import Spool

pytestmark = pytest.mark.processes

COMMANDS = (
    "run",
    "observe",
    "upload",
    "check",
    "import",
    "plan",
    "servers",
    "doctor",
    "spool",
    "login",
    "status",
    "completion",
)


def only(service: FakeService) -> Upload:
    (upload,) = service.uploads.values()
    return upload


def login(service: FakeService, token: str = TOKEN) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "loadsheet_agent", "login", service.url, "--json"],
        input=f"{token}\n",
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_a_login_is_kept_for_this_user_alone_and_used(service: FakeService, tmp_path: Path):
    done = login(service)
    assert done.returncode == Exit.OK, done.stderr
    answer = {"exit_code": 0, "url": service.url, "token": "good", "workspace": "The lab"}
    assert json.loads(done.stdout) == answer
    assert f"Results go to the workspace The lab, {service.url}/w/lab/" in done.stderr
    assert service.words[0]["agent"]["name"] == "loadsheet-agent"  # the Agents page shows it
    path = tmp_path / "login.json"
    assert path.stat().st_mode & 0o077 == 0
    assert TOKEN not in done.stdout + done.stderr
    status = run_agent("status", "--json")
    answer = json.loads(status.stdout)
    assert (answer["url"], answer["token"]) == (service.url, "good")
    assert "the token is good until 2030-01-02" in run_agent("status").stdout
    (tmp_path / "wrk.txt").write_text("Running 1s test")
    assert run_agent("upload", tmp_path / "wrk.txt").returncode == Exit.OK
    assert only(service).token == TOKEN
    # A login is for its own service: another one gets no token.
    other = run_agent("upload", tmp_path / "wrk.txt", "--url", "http://127.0.0.1:9")
    assert other.returncode == Exit.USAGE
    assert "no token for http://127.0.0.1:9" in other.stderr
    assert run_agent("login", "--forget").returncode == Exit.OK
    assert not path.exists()


def test_a_login_that_is_refused_is_not_kept(service: FakeService, tmp_path: Path):
    service.refused.add("wrong")
    done = login(service, "wrong")
    assert done.returncode == Exit.USAGE
    assert "refused the token; nothing was saved" in done.stderr
    assert not (tmp_path / "login.json").exists()
    assert run_agent("login").returncode == Exit.USAGE
    (tmp_path / "login.json").write_text("{")
    assert "run `loadsheet login URL` again" in run_agent("status").stderr


def test_the_status_says_where_results_go_and_what_waits(service: FakeService, tmp_path: Path):
    entry = Spool(tmp_path / "spool").create()
    entry.commit(file_envelope(entry.id))
    entry.release()
    said = run_agent("status").stdout
    assert "service: none" in said
    assert "1 waiting" in said
    service.refused.add(TOKEN)
    done = run_agent("status", *service.flags)
    assert done.returncode == Exit.HELD
    assert "the token is refused" in done.stdout
    away = run_agent("status", "--url", "http://127.0.0.1:9", "--token", TOKEN, "--json")
    assert (away.returncode, json.loads(away.stdout)["token"]) == (Exit.OK, "unknown")


def test_doctor_says_what_would_spoil_a_plan(service: FakeService, fake_wrk: str, tmp_path: Path):
    plan = write_plan(tmp_path)
    tool = ["--tool-path", f"wrk={fake_wrk}"]
    done = run_agent("doctor", plan, *tool, *service.flags, "--json")
    answer = json.loads(done.stdout)
    found = {each["id"]: each for each in answer["findings"]}
    assert found["tool"]["text"] == "wrk (4.9.9) can do the plan"
    assert found["one-machine"]["level"] == "warns"
    assert found["length"]["level"] == "warns"
    assert found["clock"]["level"] == found["service"]["level"] == "good"
    assert answer["host"]["facts"]["somaxconn"]
    spoilt = any(each["level"] == "spoils" for each in answer["findings"])
    assert done.returncode == (Exit.UNFIT if spoilt else Exit.OK)


def test_doctor_finds_a_plan_that_cannot_run_here(tmp_path: Path):
    plan = write_plan(tmp_path, connections="[90000]")
    done = run_agent("doctor", plan, PATH="")
    assert done.returncode == Exit.UNFIT
    assert "✗ wrk was not found on the PATH" in done.stdout
    assert "ulimit -n 90050" in done.stdout
    assert "results stay in the spool" in done.stdout
    assert run_agent("doctor", tmp_path / "none.toml").returncode == Exit.PLAN


# Of the new plan: trials, warm-ups and rests.
PLANNED_S = 15 * 10 + 15 * 5 + 29 * 2


def test_a_new_plan_checks_and_is_never_written_over(fake_wrk: str, tmp_path: Path):
    path = tmp_path / "mine.toml"
    assert run_agent("plan", "new", path).returncode == Exit.OK
    assert run_agent("plan", "new", path).returncode == Exit.USAGE
    assert run_agent("plan", "new", "-").stdout == path.read_text()
    done = run_agent("plan", "check", path, "--tool-path", f"wrk={fake_wrk}", "--json")
    assert done.returncode == Exit.OK, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["trials_least"], answer["trials_most"], answer["warmups_least"]) == (15, 15, 15)
    parts_s = PLANNED_S + 30 * AROUND_S + 5 * START_S + VERSION_S
    assert answer["seconds_least"] == pytest.approx(parts_s)
    assert answer["to_install"] == 0
    assert (answer["tool"], len(answer["steps"])) == ("wrk", 30)
    shown = run_agent("plan", "check", path, "--tool-path", f"wrk={fake_wrk}").stdout
    assert "1 server x 1 workload x 3 load points x 5 repeats: 15 trials and 15 warm-ups" in shown
    assert " 1  http.server · hello · 1 connection · warm-up" in shown
    assert answer["sha256"] in shown


def test_a_new_plan_can_measure_the_machine_against_itself(fake_wrk: str, tmp_path: Path):
    path = tmp_path / "self.toml"
    assert run_agent("plan", "new", path, "--aa").returncode == Exit.OK
    assert run_agent("plan", "check", path, "--aa").returncode == Exit.USAGE
    shown = run_agent("plan", "check", path, "--tool-path", f"wrk={fake_wrk}").stdout
    assert "2 servers x 1 workload x 3 load points x 5 repeats: 30 trials" in shown
    assert "sides A and B are the same server (http.server)" in shown
    assert "http.server (side B) · hello · 64 connections · repeat 1/5" in shown


def test_a_check_works_where_the_tool_is_not(tmp_path: Path):
    plan = write_plan(tmp_path, tool="locust")
    done = run_agent("plan", "check", plan, PATH="")
    assert done.returncode == Exit.OK
    assert "Note: locust was not found on the PATH; install it (pipx install locust)" in done.stderr
    plan = write_plan(tmp_path, tool="wrk2")
    done = run_agent("plan", "check", plan)
    assert done.returncode == Exit.PLAN
    assert "wrk2 sends at an offered rate only" in done.stderr
    assert "tools that can: wrk, ab, autocannon" in done.stderr


def test_an_upload_says_what_was_measured_and_when(service: FakeService, tmp_path: Path):
    (tmp_path / "ab.txt").write_text("This is ApacheBench\nAuthorization: Bearer abcdef123\n")
    (tmp_path / "plot.tsv").write_text("starttime\n")
    done = run_agent(
        *("upload", tmp_path / "ab.txt", tmp_path / "plot.tsv", *service.flags),
        *("--server", "gunicorn", "--server-version", "19.6", "--config", "workers=3"),
        *("--workload", "api", "--path", "/api", "--no-keepalive", "--tls", "--tool", "ab"),
        *("--connections", 100, "--host", "app1", "--at", "2016-09-14T10:00:00+02:00"),
        *("--label", "study=rest-2016"),
    )
    assert done.returncode == Exit.OK, done.stderr
    upload = only(service)
    (trial,) = upload.envelope["trials"]
    assert trial["server"] == {
        "name": "gunicorn",
        "version": "19.6",
        "configuration": {"workers": "3"},
    }
    assert trial["workload"] == {"name": "api", "path": "/api", "keepalive": False, "tls": True}
    assert trial["load"] == {"tool": "ab", "connections": 100}
    assert trial["artefacts"] == ["ab.txt", "plot.tsv"]
    assert upload.envelope["run"] == {
        "started_at": "2016-09-14T08:00:00Z",
        "finished_at": "2016-09-14T08:00:00Z",
        "labels": {"study": "rest-2016"},
    }
    assert upload.envelope["hosts"] == {"server": {"name": "app1"}}
    assert "[redacted]" in upload.files["ab.txt"].decode()
    assert "abcdef123" in (tmp_path / "ab.txt").read_text(), "the original is left alone"
    assert "Secrets were removed from the copy of ab.txt" in done.stderr


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--at", "yesterday"], "expected a form like 2016-09-14"),
        (["--at", "2999-01-01"], "lies in the future"),
        (["--label", "x"], "expected KEY=VALUE"),
        (["--connections", "5"], "add --server NAME"),
    ],
)
def test_words_of_an_upload_that_make_no_sense(
    service: FakeService, tmp_path: Path, flags: list[str], words: str
):
    (tmp_path / "ab.txt").write_text("This is ApacheBench")
    done = run_agent("upload", tmp_path / "ab.txt", *flags, *service.flags)
    assert done.returncode == Exit.USAGE
    assert words in done.stderr
    assert service.posts == 0


def test_a_date_alone_places_files_without_making_them_one_trial(
    service: FakeService, tmp_path: Path
):
    (tmp_path / "two.txt").write_text("This is ApacheBench")
    assert (
        run_agent("upload", tmp_path / "two.txt", "--at", "2009-10-02", *service.flags).returncode
        == 0
    )
    envelope = only(service).envelope
    assert "trials" not in envelope
    assert envelope["run"]["started_at"].startswith("2009-10-0")


def test_only_what_is_named_is_dropped(tmp_path: Path):
    spool = Spool(tmp_path / "spool")
    kept, gone, busy = (spool.create() for _ in range(3))
    for entry in (kept, gone, busy):
        entry.commit(file_envelope(entry.id))
    kept.release()
    gone.release()
    assert run_agent("spool", "drop").returncode == Exit.USAGE
    assert run_agent("spool", "drop", gone.id, "0" * 8).returncode == Exit.USAGE
    assert run_agent("spool", "drop", gone.id, busy.id).returncode == Exit.FAILED
    assert len(spool.entries()) == 3
    done = run_agent("spool", "drop", gone.id, "--json")
    assert json.loads(done.stdout)["dropped"] == [gone.id]
    assert {entry.id for entry in spool.entries()} == {kept.id, busy.id}
    kept.lock()
    refused = kept.reject({"detail": "no"})
    assert run_agent("spool", "drop", refused.name).returncode == Exit.OK
    assert [entry.id for entry in spool.entries()] == [busy.id]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        cli.main([command, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "--json" in shown
    if command in ("doctor", "status"):
        return
    block = shown.partition("\nexamples:\n")[2].partition("\n\n")[0]
    # Each can be copied as a line of its own.
    assert block
    assert all(re.match(r"  .*\bloadsheet\b", line) for line in block.splitlines())


def test_the_help_names_every_command_and_every_code(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    shown = capsys.readouterr().out
    assert all(re.search(rf"^    {command}\s", shown, re.MULTILINE) for command in COMMANDS)
    assert all(f"\n  {int(code):<4}" in shown for code in Exit)
    assert set(completion_words()) == set(COMMANDS)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_commands_and_flags(tmp_path: Path):
    script = run_agent("completion", "bash").stdout

    def complete(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in words)
        body = f"{script}\nCOMP_WORDS=({line})\nCOMP_CWORD={len(words) - 1}\n_loadsheet\n"
        body += 'printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(
            ["bash", "-c", body], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        return done.stdout.split()

    assert complete("loadsheet", "do") == ["doctor"]
    assert set(complete("loadsheet", "")) == set(COMMANDS)
    assert complete("loadsheet", "run", "--res") == ["--resume"]
    assert complete("loadsheet", "spool", "dr") == ["drop"]


def test_other_shells_get_a_script_too():
    assert run_agent("completion", "zsh").stdout.startswith("#compdef loadsheet")
    fish = run_agent("completion", "fish").stdout
    assert "complete -c loadsheet -n '__fish_seen_subcommand_from run' -l resume" in fish


def test_the_readme_names_every_tool_and_command():
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text()
    for name in (*TOOLS, *(f"loadsheet {command}" for command in COMMANDS)):
        assert name in readme, name
