"""How a child process ended, and whether what it worked on can be the cause.

A child reads what strangers sent, under limits. A limit, a crash and exhausted memory speak against
the upload. A signal that somebody else sent, without a sign of exhausted memory, does not
(decision 0019).
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

# Sent by people, supervisors and machines that shut down. A crash has other signals.
SIGNALS_FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
# A killed child that had this share of its memory limit counts as killed for its memory, also
# where another program than the kernel did it.
LARGE_SHARE = 0.5
VMSTAT = Path("/proc/vmstat")


@dataclass(frozen=True, slots=True)
class Death:
    """How a child ended: its exit code as Popen gives it, and the most memory it had."""

    code: int
    memory_bytes: int
    # Processes that the kernel ended for lack of memory while the child worked.
    memory_kills: int = 0

    @property
    def is_for_memory(self) -> bool:
        """Whether the child was killed because it, or the machine, had too little memory."""
        is_large = self.memory_bytes >= LARGE_SHARE * settings.PARSE_MEMORY_BYTES
        return self.code == -signal.SIGKILL and (self.memory_kills > 0 or is_large)

    @property
    def is_from_outside(self) -> bool:
        """Whether nothing speaks against the upload that the child was reading."""
        return -self.code in SIGNALS_FROM_OUTSIDE and not self.is_for_memory

    @property
    def sentence(self) -> str:
        """What happened, with the memory used and its limit."""
        if self.code >= 0:
            return f"The parser ended with status {self.code} while it read this upload."
        used, limit = self.memory_bytes >> 20, settings.PARSE_MEMORY_BYTES >> 20
        memory = f"it had used {used} MiB of memory, the limit is {limit} MiB."
        if self.is_for_memory:
            return f"The parser was killed for lack of memory while it read this upload; {memory}"
        name = signal.Signals(-self.code).name
        how = "was ended" if self.is_from_outside else "crashed"
        return f"The parser {how} ({name}) while it read this upload; {memory}"


def death_of(child: subprocess.Popen[bytes], *, memory_kills_before: int) -> Death | None:
    """How the child ended, with what it used; None while it lives.

    `memory_kills_before` is what `count_memory_kills` gave when the child began to read.
    """
    if child.returncode is not None:
        return Death(child.returncode, 0)
    try:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
    except ChildProcessError:  # reaped elsewhere
        return Death(child.poll() or 0, 0)
    if pid == 0:
        return None
    # Popen's own wait would not tell what was used.
    child.returncode = os.waitstatus_to_exitcode(status)
    memory_kills = count_memory_kills() - memory_kills_before
    return Death(child.returncode, usage.ru_maxrss << 10, memory_kills)


def has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether it has; `death_of` then says how."""
    if child.returncode is not None:
        return True
    try:
        ended = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # reaped elsewhere
        return True
    return ended is not None


def end_group(leader: subprocess.Popen[bytes]) -> None:
    """End what a child started that has ended itself."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader.pid, signal.SIGKILL)


def count_memory_kills() -> int:
    """Processes that the kernel has ended for lack of memory since it started, also those of a
    container's own limit; 0 where it does not tell."""
    try:
        lines = VMSTAT.read_text().splitlines()
    except OSError:
        return 0
    counts = (line.split() for line in lines if line.startswith("oom_kill "))
    return sum(int(count) for _, count in counts)
