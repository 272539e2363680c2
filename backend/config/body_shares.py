"""The bodies of requests on their way to a web process: how many of each sender, and their bytes.

Room is counted as it is filled, not as it is announced. When no room is left, the workspace or user
that holds most of it is refused, and the others go on.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings

from backend.config.bodies import Refusal
from backend.ingest.limits import LARGE_BODIES, LEAST_BYTES_PER_S, SLOW_AFTER_S

_bodies: Counter[bytes] = Counter()
_sizes: Counter[bytes] = Counter()


@dataclass(slots=True)
class Share:
    """One body. `sender`: a token or user, or empty; `payer`: its workspace or user, or empty."""

    sender: bytes
    payer: bytes
    size: int = 0

    def add(self, size: int) -> None:
        """Count bytes that were read."""
        self.size += size
        _sizes[self.payer] += size

    def refusal_after(self, seconds: float) -> Refusal | None:
        """Why no more is read, or None."""
        if self.sender and not self.size and _bodies[self.sender] > LARGE_BODIES:
            return Refusal.SHARE
        if seconds > SLOW_AFTER_S and self.size < LEAST_BYTES_PER_S * seconds:
            return Refusal.SLOW
        is_full = _sizes.total() > settings.BODIES_MAX_BYTES
        return Refusal.SHARE if is_full and _sizes[self.payer] == max(_sizes.values()) else None


@contextmanager
def share_of(sender: bytes = b"", payer: bytes = b"") -> Iterator[Share]:
    """A share for one body, until its request is answered."""
    share = Share(sender, payer)
    _bodies[sender] += 1
    try:
        yield share
    finally:
        _bodies[sender] -= 1
        _sizes[payer] -= share.size
        for counter, key in ((_bodies, sender), (_sizes, payer)):
            if not counter[key]:
                del counter[key]
