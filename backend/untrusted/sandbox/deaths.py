"""How a child process ended, and how much memory it had used.

A child reads what strangers sent, under limits. When it ends, the upload that it was reading may be
the cause (decision 0019).
"""

import signal
from dataclasses import dataclass

# Linux adds up memory in batches of each processor: two readings of the same size differ.
INEXACTNESS = 1.1


@dataclass(frozen=True, slots=True)
class Death:
    """How a child ended: its exit code as Popen gives it, and the most memory it had, at most.

    `memory_bytes` is 0 where it was not measured. Linux counts what the parent had as the child's.
    So only more than `parent_bytes`, the most that the parent had, is certainly the child's own.
    """

    code: int
    memory_bytes: int = 0
    parent_bytes: int = 0

    @property
    def is_own_memory(self) -> bool:
        """Whether the memory is the child's own, not what it was born with."""
        return self.memory_bytes > INEXACTNESS * self.parent_bytes

    @property
    def is_kill(self) -> bool:
        """Whether it was killed, as the kernel does where memory runs out."""
        return self.code == -signal.SIGKILL

    def how(self) -> str:
        """What happened to the child: a verb, such as "crashed (SIGSEGV)"."""
        if self.code >= 0:
            return f"ended with status {self.code}"
        if self.is_kill:
            return "was killed (SIGKILL), as happens when memory runs out"
        return f"crashed ({signal_name(-self.code)})"

    def memory(self, limit_bytes: int) -> str:
        """The memory that the child used, and its limit."""
        limit = f"the limit is {as_mib(limit_bytes)}."
        if not self.memory_bytes:
            return f"the memory it used was not measured, {limit}"
        at_most = "" if self.is_own_memory else "at most "
        return f"it had used {at_most}{as_mib(self.memory_bytes)} of memory, {limit}"

    def sentence(self, limit_bytes: int) -> str:
        """What happened to a parser while it read an upload, with the memory used and its limit."""
        what = f"While it read this upload, the parser {self.how()}"
        return f"{what}." if self.code >= 0 else f"{what}; {self.memory(limit_bytes)}"


def as_mib(size_bytes: int) -> str:
    """Such as "2,048 MiB"."""
    return f"{size_bytes >> 20:,} MiB"


def signal_name(number: int) -> str:
    """Such as SIGKILL; "signal 40" of one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
