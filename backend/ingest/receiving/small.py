"""Which uploads are small: read together with others (batches.py)."""

from collections.abc import Sequence

from backend.ingest.envelope.envelope import Envelope
from backend.untrusted.secrets.rewriting import is_plain

SMALL_BYTES = 64 << 10
SMALL_FILES = 4


def is_small(envelope: Envelope, files: Sequence[bytes], *, has_parts: bool = False) -> bool:
    """Whether an upload of these files is one small text or a few, without a plan.

    A plan and facts of hosts have consequences beyond their run, and what is packed may take long
    to read: such uploads are read alone.
    """
    if has_parts or envelope.entries or envelope.hosts is not None or envelope.is_early:
        return False
    is_little = len(files) <= SMALL_FILES and sum(map(len, files)) <= SMALL_BYTES
    return is_little and all(map(is_plain, files))
