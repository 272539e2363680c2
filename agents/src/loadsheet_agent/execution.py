"""One execution of a load tool: bounded in time, its output on disk, its CPU time counted."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadsheet_agent.clock import utc_now
from loadsheet_agent.tools import Command

# A tool may take this much longer than its load: connecting, last answers, sorting its samples.
EXTRA_TIME_S = 45.0
STOP_GRACE_S = 5.0
POLL_S = 0.02


@dataclass(frozen=True)
class Execution:
    started_at: str
    finished_at: str
    exit_code: int | None
    error: str | None
    client_cpu_s: float | None
    artefacts: tuple[str, ...]


def execute(
    command: Command,
    path: str,
    *,
    directory: Path,
    prefix: str,
    duration_s: float,
    tick: Callable[[], None] = lambda: None,
) -> Execution:
    started_at = utc_now()
    stderr = f"{prefix}-stderr.txt"
    code: int | None = None
    cpu_s: float | None = None
    with (directory / command.stdout).open("wb") as out, (directory / stderr).open("wb") as err:
        try:
            process = _spawn(command, path, directory=directory, out=out, err=err)
            code, cpu_s, late = _wait(process, duration_s + EXTRA_TIME_S, tick)
            error = _late_text(command, duration_s) if late else None
        except OSError as problem:
            error = f"{command.argv[0]} could not be started: {problem.strerror}"
    finished_at = utc_now()
    if error is None:
        error = _exit_error(command.argv[0], code, directory / command.stdout, directory / stderr)
    return Execution(
        started_at=started_at,
        finished_at=finished_at,
        exit_code=code,
        error=error,
        client_cpu_s=cpu_s,
        artefacts=_keep_filled(directory, (command.stdout, stderr, *command.files)),
    )


def _spawn(
    command: Command, path: str, *, directory: Path, out: Any, err: Any
) -> subprocess.Popen[bytes]:
    # Its own session: Ctrl-C reaches the agent alone, which then decides what to stop.
    return subprocess.Popen(
        command.argv,
        executable=path,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        cwd=directory,
        start_new_session=True,
    )


def _wait(
    process: subprocess.Popen[bytes], limit_s: float, tick: Callable[[], None]
) -> tuple[int, float, bool]:
    """wait4 instead of Popen.wait: only it tells the CPU time of this one child."""
    deadline = time.monotonic() + limit_s
    late = False
    try:
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = _code(status)
                return process.returncode, usage.ru_utime + usage.ru_stime, late
            if time.monotonic() > deadline:
                _signal(process, signal.SIGKILL if late else signal.SIGTERM)
                deadline, late = time.monotonic() + STOP_GRACE_S, True
            tick()
            time.sleep(POLL_S)
    except BaseException:
        # Interrupted: the load must not go on behind the back of whoever stopped it.
        _signal(process, signal.SIGKILL)
        process.wait()
        raise


def _code(status: int) -> int:
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return


def _late_text(command: Command, duration_s: float) -> str:
    return (
        f"{command.argv[0]} did not end within {duration_s + EXTRA_TIME_S:g} s for a load of "
        f"{duration_s:g} s and was stopped"
    )


def _exit_error(name: str, code: int | None, stdout: Path, stderr: Path) -> str | None:
    if code == 0:
        return None if stdout.stat().st_size else f"{name} ended well but printed nothing"
    if code is not None and code < 0:
        return f"{name} was ended by signal {signal.Signals(-code).name}"
    lines = stderr.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    said = f": {lines[-1][:300]}" if lines else " and said nothing on stderr"
    return f"{name} ended with exit code {code}{said}"


def _keep_filled(directory: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the files that have content; an empty file is no evidence and is removed."""
    kept = []
    for name in names:
        path = directory / name
        if path.exists() and path.stat().st_size:
            kept.append(name)
        else:
            path.unlink(missing_ok=True)
    return tuple(kept)
