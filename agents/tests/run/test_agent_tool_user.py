"""A load tool gets nothing of the agent's, and as a user of its own reads and leaves nothing."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from agent_fakes import PATIENCE_S, TOKEN, FakeService, run_agent, write_plan

from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.run.execution import execute
from loadsheet_agent.run.tool_user import ToolUser, find_tool_user
from loadsheet_agent.tools.base import Command

pytestmark = pytest.mark.processes
as_root = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/usr/bin/python3").exists(),
    reason="only root may change the user, to one who needs a Python of the system",
)
# Nobody of this machine has this number; tests that run at the same time have others.
UID = 200_000 + os.getpid()
# What a planted tool finds out, as wrk prints figures.
PLANTED = """#!/usr/bin/python3
import json, os, subprocess, sys
if "-v" in sys.argv:
    print("wrk 4.9.9 [planted]")
    sys.exit(1)
def attempt(act):
    try:
        return str(act())
    except OSError as error:
        return type(error).__name__
left = subprocess.Popen(["/bin/sleep", "300"], start_new_session=True, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)
print("Requests/sec: 5.00")
print("found " + json.dumps({
    "uid": os.getuid(),
    "groups": os.getgroups(),
    "environment": sorted(os.environ),
    "login": attempt(lambda: open(LOGIN).read()),
    "outside": attempt(lambda: open(OUTSIDE, "w").close()),
    "folder": sorted(os.listdir(".")),
    "home": attempt(lambda: open(os.path.expanduser("~/mine"), "w").close()),
    "left": left.pid,
}))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everyone may read: that of a test is the user's alone."""
    made = Path(tempfile.mkdtemp(prefix="loadsheet-test-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def plant(folder: Path, login: Path, outside: Path) -> Path:
    tool = folder / "wrk"
    script = PLANTED.replace("LOGIN", repr(str(login))).replace("OUTSIDE", repr(str(outside)))
    tool.write_text(script)
    tool.chmod(0o755)
    return tool


def found_by_tool(service: FakeService) -> list[dict]:
    (upload,) = service.uploads.values()
    outputs = [text.decode() for text in upload.files.values() if b"found " in text]
    return [json.loads(text.partition("found ")[2].splitlines()[0]) for text in outputs]


def ended_soon(pid):
    try:
        psutil.Process(pid).wait(timeout=PATIENCE_S)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return False
    return True


@as_root
def test_a_planted_tool_reads_writes_and_leaves_nothing(
    service: FakeService, tmp_path: Path, folder: Path
):
    login, outside = folder / "login.json", folder / "written"
    login.write_text(json.dumps({"url": service.url, "token": TOKEN}))
    login.chmod(0o600)
    tool = plant(folder, login, outside)
    plan = write_plan(tmp_path, servers=1, connections="[1]", repeats=2, warmup_s=0)
    done = run_agent(
        *("run", plan, "--tool-path", f"wrk={tool}", "--tool-user", UID),
        LOADSHEET_CONFIG=str(login),
        LOADSHEET_TOKEN=TOKEN,
        SOMEBODYS_SECRET="kept",
    )
    assert done.returncode == Exit.OK, done.stderr
    reports = found_by_tool(service)
    assert len(reports) == 2
    for report in reports:
        assert (report["uid"], report["groups"]) == (UID, [])
        assert report["login"] == report["outside"] == "PermissionError"
        assert report["folder"] == []
        assert report["home"] == "None"
        assert not {"LOADSHEET_TOKEN", "LOADSHEET_CONFIG", "SOMEBODYS_SECRET"} & set(
            report["environment"]
        )
        # A killed process has a number until its parent asks how it ended.
        assert ended_soon(report["left"])
    assert not outside.exists()


def test_without_a_user_a_tool_gets_the_environment_but_for_the_agents_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("LOADSHEET_TOKEN", TOKEN)
    monkeypatch.setenv("NODE_OPTIONS", "--max-old-space-size=64")
    done = execute(
        Command(("env",), "000.txt"), shutil.which("env") or "", directory=tmp_path, limit_s=20
    )
    printed = (tmp_path / "000.txt").read_text()
    assert done.error is None
    assert "NODE_OPTIONS=" in printed
    assert TOKEN not in printed


def test_what_a_tool_leaves_in_its_group_is_ended(tmp_path: Path):
    shell = shutil.which("sh") or ""
    script = "sleep 300 >/dev/null 2>&1 & echo $!"
    execute(Command(("sh", "-c", script), "000.txt"), shell, directory=tmp_path, limit_s=20)
    left = int((tmp_path / "000.txt").read_text())
    psutil.wait_procs([psutil.Process(left)] if psutil.pid_exists(left) else [], timeout=PATIENCE_S)
    assert not psutil.pid_exists(left) or psutil.Process(left).status() == psutil.STATUS_ZOMBIE


@as_root
def test_only_files_that_the_tool_wrote_are_kept(tmp_path: Path, folder: Path):
    """A link would have the agent read what the tool may not."""
    secret = folder / "secret"
    secret.write_text(TOKEN)
    secret.chmod(0o600)
    script = f"echo figures >one; ln -s {secret} two; mkfifo three; mkdir four"
    command = Command(("sh", "-c", script), "000.txt", files=("one", "two", "three", "four"))
    user = ToolUser(UID, UID)
    done = execute(command, "/bin/sh", directory=tmp_path, limit_s=20, user=user)
    assert done.artefacts == ("one",)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one"]


@as_root
def test_a_tool_reads_what_it_is_given_whatever_the_umask(tmp_path: Path, folder: Path):
    command = Command(("sh", "-c", "cat given"), "000.txt", inputs={"given": b"body"})
    before = os.umask(0o077)
    try:
        done = execute(command, "/bin/sh", directory=tmp_path, limit_s=20, user=ToolUser(UID, UID))
    finally:
        os.umask(before)
    assert done.error is None
    assert (tmp_path / "000.txt").read_text() == "body"


@as_root
@pytest.mark.parametrize(
    "script",
    [
        # Its folder becomes a link to another one, or its input a folder.
        "here=$(pwd); cd /; mv $here $here.moved && ln -s {folder} $here; echo $?",
        "rm given; mkdir given; echo done",
    ],
)
def test_what_a_tool_makes_of_its_folder_ends_no_run_and_removes_nothing_else(
    tmp_path: Path, folder: Path, script: str
):
    kept = folder / "given"
    kept.write_text("of somebody else")
    command = Command(
        ("sh", "-c", script.format(folder=folder)), "000.txt", inputs={"given": b"body"}
    )
    done = execute(command, "/bin/sh", directory=tmp_path, limit_s=20, user=ToolUser(UID, UID))
    assert done.error is None
    assert kept.read_text() == "of somebody else"


def test_a_process_that_ends_by_itself_meanwhile_ends_no_run(monkeypatch: pytest.MonkeyPatch):
    class Ended:
        def kill(self) -> None:
            raise psutil.NoSuchProcess(1)

    found = iter(([Ended()], []))
    monkeypatch.setattr(ToolUser, "_processes", lambda _: next(found))
    monkeypatch.setattr(psutil, "wait_procs", lambda *_, **__: None)
    ToolUser(UID, UID).end_processes()
    assert next(found, None) is None


@as_root
@pytest.mark.parametrize("name", ["root", "0", "nobody-of-this-machine", "-1", "4294967295"])
def test_a_user_that_cannot_be_given_is_refused(name: str):
    with pytest.raises(UsageError, match="--tool-user is"):
        find_tool_user(name)


def test_only_root_changes_the_user(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UsageError, match="only root"):
        find_tool_user("loadtool")
    assert find_tool_user(None) is find_tool_user("") is None
