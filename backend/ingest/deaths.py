"""How a child process ended, and whether what it worked on can be the cause.

A child reads what strangers sent, under limits. A limit, a crash and exhausted memory speak against
the upload. A signal that somebody else sent, without a sign of exhausted memory, does not
(decision 0019).
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from backend.signal_names import signal_name

# Sent by people, supervisors and machines that shut down. A crash has other signals.
SIGNALS_FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
# A killed child that had this share of its memory limit counts as killed for its memory, also
# where another program than the kernel did it.
LARGE_SHARE = 0.5
# Linux adds up memory in batches of each processor: two readings of the same size differ.
INEXACTNESS = 1.1
VMSTAT = Path("/proc/vmstat")


@dataclass(frozen=True, slots=True)
class Death:
    """How a child ended: its exit code as Popen gives it, and the most memory it had, at most.

    Linux counts what the parent had as the child's. So only more than `parent_bytes`, the most that
    the parent had, is certainly the child's own.
    """

    code: int
    memory_bytes: int
    # Processes that the kernel ended for lack of memory while the child worked.
    memory_kills: int = 0
    parent_bytes: int = 0

    @property
    def is_own_memory(self) -> bool:
        """Whether the memory is the child's own, not what it was born with."""
        return self.memory_bytes > INEXACTNESS * self.parent_bytes

    def is_for_memory(self, limit_bytes: int) -> bool:
        """Whether the child was killed because it, or the machine, had too little memory.

        `limit_bytes`: of memory, for what the child was asked.
        """
        is_large = self.is_own_memory and self.memory_bytes >= LARGE_SHARE * limit_bytes
        return self.code == -signal.SIGKILL and (self.memory_kills > 0 or is_large)

    def is_from_outside(self, limit_bytes: int) -> bool:
        """Whether nothing speaks against the upload that the child was reading."""
        return -self.code in SIGNALS_FROM_OUTSIDE and not self.is_for_memory(limit_bytes)

    def how(self, limit_bytes: int) -> str:
        """What happened to the child: a verb, such as "crashed (SIGSEGV)"."""
        if self.code >= 0:
            return f"ended with status {self.code}"
        if self.is_for_memory(limit_bytes):
            return "was killed for lack of memory"
        name = signal_name(-self.code)
        return f"was ended ({name})" if self.is_from_outside(limit_bytes) else f"crashed ({name})"

    def memory(self, limit_bytes: int) -> str:
        """The memory that the child used, and its limit."""
        used = f"{'' if self.is_own_memory else 'at most '}{self.memory_bytes >> 20} MiB"
        return f"it had used {used} of memory, the limit is {limit_bytes >> 20} MiB."

    def sentence(self, limit_bytes: int) -> str:
        """What happened to a parser, with the memory used and its limit."""
        what = f"The parser {self.how(limit_bytes)} while it read this upload"
        return f"{what}." if self.code >= 0 else f"{what}; {self.memory(limit_bytes)}"


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
    return Death(child.returncode, usage.ru_maxrss << 10, memory_kills, most_memory_bytes())


def most_memory_bytes() -> int:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


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
