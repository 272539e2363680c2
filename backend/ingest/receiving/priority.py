"""Which uploads come before others of their workspace (turns.py), and which are small: these are
read together with others (batches.py).
"""

from collections.abc import Sequence

from backend.ingest.envelope.envelope import Envelope
from backend.untrusted.secrets.rewriting import is_plain

SMALL_BYTES = 64 << 10
SMALL_FILES = 4


def is_interactive(envelope: Envelope, files: Sequence[bytes], *, is_from_page: bool) -> bool:
    """Whether a person waits for the result: of a text sent by a page, or of a run that is live.

    `files`: how each file begins. What is packed may hold hundreds of results, so it waits with
    what programs send. `is_from_page`: whole, which what comes in parts is not.
    """
    # A trial of a run that goes on, or what ends a run that came trial by trial.
    is_of_live_run = envelope.is_early or any(entry.upload for entry in envelope.entries)
    return is_of_live_run or (is_from_page and all(map(is_plain, files)))


def is_small(envelope: Envelope, files: Sequence[bytes], *, has_parts: bool = False) -> bool:
    """Whether an upload of these files is one small text or a few, without a plan.

    A plan and facts of hosts have consequences beyond their run, and what is packed may take long
    to read: such uploads are read alone.
    """
    if has_parts or envelope.entries or envelope.hosts is not None or envelope.is_early:
        return False
    is_little = len(files) <= SMALL_FILES and sum(map(len, files)) <= SMALL_BYTES
    return is_little and all(map(is_plain, files))
