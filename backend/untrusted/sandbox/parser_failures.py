"""What may go wrong with the child that parses, as sentences for the uploader."""

import signal

from backend.errors import WorkFailed
from backend.untrusted.sandbox.child import Limits
from backend.untrusted.sandbox.deaths import Death, as_mib


class ParserFailed(WorkFailed):
    """The child hung, ran out of something or died: the reason is a sentence for a person."""


class CpuUsedUp(ParserFailed):
    """The request needed more CPU time than its limit."""


class MemoryUsedUp(ParserFailed):
    """The request needed more memory than its limit."""


class ParserSlow(ParserFailed):
    """The child used little CPU time, but much of the clock's: the machine is busy."""


class ParserFaulty(ParserFailed):
    """The child met a fault of ours, which is logged."""


class ParserDied(ParserFailed):
    """The child crashed or was killed while it read: another attempt may succeed."""

    def __init__(self, death: Death, limit_bytes: int) -> None:
        super().__init__(death.sentence(limit_bytes))
        self.death = death


class ParserInterrupted(ParserFailed):
    """The child ended before it read anything: a passing fault."""


class ChildEnded(WorkFailed):
    """The child ended before it answered, or before it had the whole request."""

    def __init__(self, death: Death, *, has_read: bool = True) -> None:
        super().__init__()
        self.death = death
        self.has_read = has_read


def failure_in(kind: str, limits: Limits) -> ParserFailed:
    """The failure that the child itself told."""
    if kind == "out_of_memory":
        limit = as_mib(limits.memory_bytes)
        return MemoryUsedUp(f"Reading this upload needed more than {limit} of memory, its limit.")
    if kind == "too_much_output":
        return ParserFailed("The results in this upload are too large to store.")
    fault = "The parser has a fault, and could not read this upload."
    return ParserFaulty(f"{fault} The raw files are kept.")


def failure_of(ended: ChildEnded, limits: Limits) -> ParserFailed:
    """What the end of a child says of the upload that it was reading."""
    death = ended.death
    if not ended.has_read:
        return ParserInterrupted(f"The parser {death.how()}, before it read this upload.")
    if death.code == -signal.SIGXCPU:
        return CpuUsedUp(f"Reading this upload took more than {limits.cpu_s} s of CPU time.")
    return ParserDied(death, limits.memory_bytes)
