"""The large bodies on their way to a web process: how many of each sender, and their bytes.

Room is counted as it is filled, not as it is announced. When no room is left, the workspace or user
that holds most of it is refused, and the others go on.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings

from backend.ingest.body_refusals import TooManyBodies
from backend.ingest.limits import LARGE_BODIES, LARGE_BODIES_TOGETHER

# By sender, and by who pays.
_bodies: Counter[str] = Counter()
_sizes: Counter[str] = Counter()


@dataclass(slots=True)
class Share:
    """One body, and the workspace or user that pays for it."""

    payer: str
    size: int = 0

    def add(self, size: int) -> None:
        """Count bytes that were read. Raises TooManyBodies where they are too many."""
        self.size += size
        _sizes[self.payer] += size
        is_full = _sizes.total() > settings.BODIES_MAX_BYTES
        if is_full and _sizes[self.payer] == max(_sizes.values()):
            raise TooManyBodies(
                "There is no room for more large requests at the moment, and most of those on "
                "their way are yours or of your workspace."
            )


@contextmanager
def share_of(sender: str, payer: str) -> Iterator[Share]:
    """A share for one body, until its request is answered. Raises TooManyBodies.

    `sender`: a token or user; `payer`: its workspace, or the same user.
    """
    for name, most in {payer: LARGE_BODIES_TOGETHER, sender: LARGE_BODIES}.items():
        if _bodies[name] >= most:
            whose = "this token or user" if name == sender else "your workspace"
            raise TooManyBodies(
                f"{most} large requests of {whose} are on their way, the most at the same time."
            )
    share, names = Share(payer), {sender, payer}
    _bodies.update(names)
    try:
        yield share
    finally:
        _bodies.subtract(names)
        _sizes[payer] -= share.size
        for counter in (_bodies, _sizes):
            for name in names:
                if not counter[name]:
                    del counter[name]
