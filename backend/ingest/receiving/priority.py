"""Which uploads are interactive: read before the others of their workspace (turns.py)."""

from collections.abc import Sequence

from backend.ingest.envelope.envelope import Envelope
from backend.untrusted.secrets.rewriting import is_plain


def is_interactive(envelope: Envelope, files: Sequence[bytes], *, is_from_page: bool) -> bool:
    """Whether a person waits for the result: of a text sent by a page, or of a run that is live.

    `files`: how each file begins. What is packed may hold hundreds of results, so it waits with
    what programs send. `is_from_page`: whole, which what comes in parts is not.
    """
    # A trial of a run that goes on, or what ends a run that came trial by trial.
    is_of_live_run = envelope.is_early or any(entry.upload for entry in envelope.entries)
    return is_of_live_run or (is_from_page and all(map(is_plain, files)))
