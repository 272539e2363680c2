"""A process that is started again whenever it ends."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from backend.untrusted.sandbox.deaths import signal_name

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 30.0
# A child that ran this long starts with the first pause again.
STEADY_S = 60.0
LAST_LINE_BYTES = 4096

Process = subprocess.Popen[bytes]


@dataclass(slots=True)
class Child:
    """A process of the site: how it is started, where it writes, when it is started again."""

    name: str
    log: Path
    # Starts the process and returns at once; raises OSError.
    spawn: Callable[[], Process]
    clock: Callable[[], float] = time.monotonic
    process: Process | None = field(default=None, init=False)
    # How often it ended by itself, and not by a signal.
    failures: int = field(default=0, init=False)
    _pause_s: float = field(default=0.0, init=False)
    _started_at: float = field(default=0.0, init=False)
    _due_at: float | None = field(default=None, init=False)

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Raises OSError."""
        self._due_at = None
        self._started_at = self.clock()
        self.process = self.spawn()

    def tend(self) -> str | None:
        """Start the process again when it ended and its pause is over.

        Returns a line for people each time it ended, else None.
        """
        if self._due_at is None:
            return None if self.is_running else self._count_end()
        if self.clock() < self._due_at:
            return None
        try:
            self.start()
        except OSError as error:
            return self._plan_restart(f"could not be started: {error.strerror or error}")
        return None

    def _count_end(self) -> str:
        if self.process is not None and self.process.returncode >= 0:
            self.failures += 1
        return self._plan_restart(self.reason())

    def reason(self) -> str:
        """Why the process ended, with the last line of its log."""
        code = self.process.returncode if self.process is not None else None
        how = f"ended with status {code}"
        if code is not None and code < 0:
            how = f"was ended by {signal_name(-code)}"
        return f"{how}; see {self.log}: {last_line(self.log)}"

    def _plan_restart(self, reason: str) -> str:
        now = self.clock()
        is_first = self._pause_s == 0 or now - self._started_at > STEADY_S
        self._pause_s = FIRST_PAUSE_S if is_first else min(self._pause_s * 2, LONGEST_PAUSE_S)
        self._due_at = now + self._pause_s
        return f"Starting {self.name} again in {self._pause_s:g} s: it {reason}"

    def ask_to_stop(self) -> None:
        """Returns at once; `wait` waits."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def wait(self, timeout_s: float) -> None:
        """Wait until the process has ended; after `timeout_s` end it and its children."""
        if self.process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=max(0.1, timeout_s))
        # Whatever is left of its group goes too.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def last_line(log: Path) -> str:
    """The last line of a log that is not blank."""
    try:
        with log.open("rb") as text:
            text.seek(max(0, log.stat().st_size - LAST_LINE_BYTES))
            tail = text.read().decode(errors="replace")
    except OSError:
        return "it has no log"
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it logged nothing"
