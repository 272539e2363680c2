"""One execution of a load tool: bounded in time, its output on disk, its CPU time counted."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadsheet_agent.host.clock import utc_now
from loadsheet_agent.programs import signal_group
from loadsheet_agent.run.tool_user import ToolUser, environ_for, work_folder
from loadsheet_agent.tools.base import Command

# A tool may take this much longer than its load: connecting, last answers, sorting its samples.
EXTRA_TIME_S = 45.0
AFTER_LIMIT_S = 600.0
STOP_GRACE_S = 5.0
POLL_S = 0.02


@dataclass(frozen=True)
class Execution:
    """How one execution went: times in UTC, and the names of the files it left."""

    started_at: str
    finished_at: str
    error: str | None
    exit_code: int | None = None
    client_cpu_s: float | None = None
    artefacts: tuple[str, ...] = ()


def execute(
    command: Command,
    path: str,
    *,
    directory: Path,
    limit_s: float,
    tick: Callable[[], None] = lambda: None,
    user: ToolUser | None = None,
) -> Execution:
    """Run the tool and the calls after it; a failure is in `error`, never an exception.

    `limit_s` is how long the tool may take before it is stopped; `tick` is called while it runs.
    `user`: whom the tool runs as, in an empty folder; None: the agent's user, in `directory`.
    """
    with work_folder(user, directory, command.files) as folder:
        program = _Program(path, command.environ, directory, folder, user, tick)
        started_at = utc_now()
        try:
            for name, content in command.inputs.items():
                _give(folder / name, content, user)
            call = program.run(command.argv, command.stdout, limit_s)
            finished_at = utc_now()
            error = call.error
            for argv, stdout in command.after:
                error = error or program.run(argv, stdout, AFTER_LIMIT_S).error
        finally:
            # The folder of a user is removed as a whole, whatever the tool made of it.
            for name in (*command.inputs, *command.scratch) if user is None else ():
                (folder / name).unlink(missing_ok=True)
    artefacts = _keep_filled(directory, (command.stdout, call.stderr, *command.files))
    if error is None and not artefacts:
        error = f"{command.argv[0]} ended with exit code 0 but printed nothing"
    return Execution(
        started_at=started_at,
        finished_at=finished_at,
        exit_code=call.code,
        error=error,
        client_cpu_s=call.cpu_s,
        artefacts=artefacts,
    )


def not_executed(error: str) -> Execution:
    """The execution of a trial that could not begin: only its error."""
    now = utc_now()
    return Execution(started_at=now, finished_at=now, error=error)


@dataclass(frozen=True)
class _Call:
    code: int | None
    cpu_s: float | None
    error: str | None
    stderr: str


def _give(path: Path, content: bytes, user: ToolUser | None) -> None:
    path.write_bytes(content)
    if user is not None:
        os.chown(path, user.uid, user.gid)


@dataclass(frozen=True)
class _Program:
    """`kept` is where the output of the tool is kept, `work` where the tool works."""

    path: str
    environ: Mapping[str, str]
    kept: Path
    work: Path
    user: ToolUser | None
    tick: Callable[[], None]

    def run(self, argv: tuple[str, ...], stdout: str, limit_s: float) -> _Call:
        stderr = f"{stdout.partition('-')[0]}-stderr.txt"
        code: int | None = None
        cpu_s: float | None = None
        error: str | None = None
        # Appended: a later call must not replace what the load itself wrote to stderr.
        with (self.kept / stdout).open("wb") as out, (self.kept / stderr).open("ab") as err:
            try:
                process = self._spawn(argv, out, err)
                code, cpu_s, is_late = _wait(process, limit_s, self.tick)
                if is_late:
                    error = f"{argv[0]} did not end within {limit_s:g} s and was stopped"
            except OSError as problem:
                error = f"{argv[0]} could not be started: {problem.strerror}"
        error = error or _exit_error(argv[0], code, self.kept / stderr)
        return _Call(code, cpu_s, error, stderr)

    def _spawn(self, argv: tuple[str, ...], out: Any, err: Any) -> subprocess.Popen[bytes]:
        # Its own session: Ctrl-C reaches the agent alone, which then decides what to stop.
        return subprocess.Popen(
            argv,
            executable=self.path,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=self.work,
            env={**environ_for(self.user, self.work, os.environ), **self.environ},
            start_new_session=True,
            **({} if self.user is None else self.user.identity()),
        )


def _wait(
    process: subprocess.Popen[bytes], limit_s: float, tick: Callable[[], None]
) -> tuple[int, float, bool]:
    """Exit code, CPU seconds and whether it was stopped for taking too long.

    wait4 instead of Popen.wait, which does not give the CPU time of this one child.
    """
    deadline = time.monotonic() + limit_s
    is_late = False
    try:
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = _code(status)
                # What the tool left behind would disturb later trials.
                signal_group(process.pid, signal.SIGKILL)
                return process.returncode, usage.ru_utime + usage.ru_stime, is_late
            if time.monotonic() > deadline:
                signal_group(process.pid, signal.SIGKILL if is_late else signal.SIGTERM)
                deadline, is_late = time.monotonic() + STOP_GRACE_S, True
            tick()
            time.sleep(POLL_S)
    except BaseException:
        # Interrupted: the load must not go on after the agent has ended.
        signal_group(process.pid, signal.SIGKILL)
        process.wait()
        raise


def _code(status: int) -> int:
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _exit_error(name: str, code: int | None, stderr: Path) -> str | None:
    if code == 0:
        return None
    if code is not None and code < 0:
        return f"{name} was ended by signal {signal.Signals(-code).name}"
    lines = stderr.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    printed = f": {lines[-1][:300]}" if lines else " and printed nothing on stderr"
    return f"{name} ended with exit code {code}{printed}"


def _keep_filled(directory: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the files that have content; an empty file is no evidence and is removed."""
    filled = []
    for name in names:
        path = directory / name
        if path.exists() and path.stat().st_size:
            filled.append(name)
        else:
            path.unlink(missing_ok=True)
    return tuple(filled)
