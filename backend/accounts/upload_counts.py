"""Uploads of busy senders, counted in blocks: one question to the cache for many uploads.

A sender that comes again and again within a second gets blocks of 2, 4, 8 … uploads, counted when
the block begins. What is left of a block when its second is over is lost: so a sender is stopped
at most one block early, and never late.
"""

import threading
import time
from dataclasses import dataclass

from django.conf import settings

from backend.accounts import throttle

BLOCK_S = 1.0
LARGEST_BLOCK = 32
# Of the limit: where few uploads are allowed, each is counted by itself.
SHARE_OF_LIMIT = 1000
MAX_SENDERS = 10_000


@dataclass(slots=True)
class _Block:
    """Uploads that are counted already."""

    size: int
    left: int
    ends_at: float


_blocks: dict[str, _Block] = {}
_lock = threading.Lock()


def may_upload(sender: str) -> bool:
    """Count one upload of `sender`; whether it may go on."""
    with _lock:
        size = _take(sender)
    if not size:
        return True
    if throttle.seconds_until_upload(sender, count=size):
        # So many are not free any more; one may be.
        return size > 1 and not throttle.seconds_until_upload(sender)
    with _lock:
        _blocks[sender] = _Block(size, size - 1, time.monotonic() + BLOCK_S)
    return True


def _take(sender: str) -> int:
    """Take one upload of the sender's block: then 0; else the size of the block to begin."""
    if len(_blocks) > MAX_SENDERS:
        _blocks.clear()
    block = _blocks.get(sender)
    if block is None or time.monotonic() > block.ends_at:
        return 1
    if block.left > 0:
        block.left -= 1
        return 0
    largest = min(LARGEST_BLOCK, settings.UPLOADS_PER_MINUTE // SHARE_OF_LIMIT)
    return max(1, min(2 * block.size, largest))
