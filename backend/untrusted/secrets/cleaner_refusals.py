"""What a sender is told where the child that takes out secrets refused a file, or died."""

from typing import Any

from backend.errors import Away
from backend.untrusted.sandbox.child import Limits
from backend.untrusted.sandbox.deaths import Death, as_mib
from backend.untrusted.sandbox.parser_failures import (
    CpuUsedUp,
    MemoryUsedUp,
    ParserDied,
    ParserFailed,
    ParserFaulty,
    ParserInterrupted,
    ParserSlow,
)
from backend.untrusted.secrets.rewriting import CannotClean, TooLargeToClean

# Of one request, where its child crashes or is killed: that may be our fault, or the machine's.
ATTEMPTS = 3
OF_A_PREVIEW = "the limit of a preview"
SEARCH = "The search for secrets in a file"


class CleanerInterrupted(Away):
    """The child had no time to read it, or no processor. The same request works later."""

    def __init__(self, sentence: str = "The search for secrets was interrupted.") -> None:
        super().__init__(sentence)


def refusal_in(answer: dict[str, Any], limits: Limits, *, is_preview: bool) -> CannotClean:
    """The refusal that the child answered."""
    if is_preview and answer["has_too_many_bytes"]:
        limit = f"{limits.decompressed_bytes:,} bytes, {OF_A_PREVIEW}"
        return TooLargeToClean(f"The file unpacks to more than {limit}.")
    kind = TooLargeToClean if answer["is_too_large"] else CannotClean
    return kind(answer["refused"])


def refusal_of(
    failed: ParserFailed, limits: Limits, *, is_preview: bool
) -> CannotClean | CleanerInterrupted:
    """What the sender is told: only what the file itself caused refuses it as too large."""
    match failed:
        case ParserInterrupted():
            return CleanerInterrupted()
        case ParserSlow():
            return CleanerInterrupted("The search for secrets took too long on a busy machine.")
        case ParserFaulty():
            return CannotClean(
                "The search for secrets has a fault, and could not look through a file.",
                hint="Nothing was stored. Tell the operator: the fault is in the log.",
            )
        case ParserDied(death=death):
            kind = TooLargeToClean if death.is_kill else CannotClean
            return kind(f"{sentence_of(death, limits)} This happened {ATTEMPTS} times.")
    needs = {
        CpuUsedUp: f"needed more than {limits.cpu_s} s of CPU time"
        + (f", {OF_A_PREVIEW}." if is_preview else "."),
        MemoryUsedUp: f"needed more than {as_mib(limits.memory_bytes)} of memory.",
    }
    return TooLargeToClean(f"{SEARCH} {needs.get(type(failed), f'was stopped. {failed}')}")


def sentence_of(death: Death, limits: Limits) -> str:
    """What happened to the child, with the memory that it used."""
    return f"{SEARCH} {death.how()}; {death.memory(limits.memory_bytes)}"
