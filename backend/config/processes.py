"""Child processes of the entry scripts: started in groups of their own, ended by their ids."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

PR_SET_PDEATHSIG = 1
LOG_KEPT_BYTES = 10 << 20
POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Account:
    """The user a process runs as instead of ours."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Program:
    """What to run: arguments, environment and where its output goes."""

    name: str
    argv: Sequence[str]
    log: Path
    env: Mapping[str, str]
    cwd: Path = Path("/")
    account: Account | None = None
    feed: bytes = b""
    # The polite request to end, sent to the process itself; its children are its own business.
    stop_signal: signal.Signals = signal.SIGTERM
    stop_grace_s: float = 20.0


@dataclass(frozen=True, slots=True)
class Child:
    """A running program. `on_stopped` clears what it left on disk."""

    program: Program
    process: subprocess.Popen[bytes]
    on_stopped: Callable[[], None] = field(default=lambda: None)

    @property
    def name(self) -> str:
        return self.program.name

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def log_tail(self, *, lines: int = 15) -> str:
        """The last lines it printed."""
        with suppress(OSError):
            return "\n".join(self.program.log.read_text(errors="replace").splitlines()[-lines:])
        return "(no log)"

    def stop(self) -> None:
        """Ask, wait, then kill the whole group: nothing of it may stay."""
        if self.is_alive():
            with suppress(ProcessLookupError):
                self.process.send_signal(self.program.stop_signal)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(self.program.stop_grace_s)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.on_stopped()


def spawn(program: Program, *, on_stopped: Callable[[], None] = lambda: None) -> Child:
    """Start the program with its output in its log."""
    program.log.parent.mkdir(parents=True, exist_ok=True)
    _turn_over(program.log)
    account = program.account
    with program.log.open("ab") as log:
        process = subprocess.Popen(
            list(program.argv),
            stdin=subprocess.PIPE if program.feed else subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=program.cwd,
            env=dict(program.env),
            # A terminal's Ctrl-C reaches only us: we end the children, in order.
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            # Safe here: the entry scripts have one thread.
            preexec_fn=_end_with_parent(program.stop_signal),  # noqa: PLW1509
        )
    if process.stdin is not None:
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(program.feed)
    return Child(program, process, on_stopped)


def wait_until(ready: Callable[[], bool], child: Child, *, within_s: float) -> bool:
    """Poll until it is ready; False when the child died or time ran out."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline and child.is_alive():
        if ready():
            return True
        time.sleep(POLL_S)
    return False


def _end_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """Linux tells the child when its parent was killed outright, and could not tell it itself."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def before_exec() -> None:
        prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)

    return before_exec


def _turn_over(log: Path) -> None:
    """Keep one old log, so that logs cannot fill the disk over the years."""
    if log.exists() and log.stat().st_size > LOG_KEPT_BYTES:
        log.replace(log.with_suffix(".old.log"))
