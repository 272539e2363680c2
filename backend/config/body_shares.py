"""The large bodies on their way to a web process, and the answers that wait for their readers.

Room is counted as it is filled, not as it is announced. When no room is left, the workspace or user
(of answers: the network) that holds most of it is refused, and the others go on.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings

from backend.accounts.throttle import site_of
from backend.ingest.body_refusals import TooManyBodies
from backend.ingest.limits import LARGE_BODIES, LARGE_BODIES_TOGETHER

# Longer answers wait for their reader in a file.
ANSWER_MEMORY_BYTES = 1 << 20
# By sender, and by who pays.
_bodies: Counter[str] = Counter()
_sizes: Counter[str] = Counter()
# By network.
_answers: Counter[str] = Counter()


@dataclass(slots=True)
class Share:
    """One body, and the workspace or user that pays for it."""

    payer: str
    size: int = 0

    def add(self, size: int) -> None:
        """Count bytes that were read. Raises TooManyBodies where they are too many."""
        self.size += size
        _sizes[self.payer] += size
        if _holds_most(_sizes, self.payer):
            raise TooManyBodies(
                "There is no room for more large requests at the moment, and most of those on "
                "their way are yours or of your workspace."
            )


def _holds_most(sizes: Counter[str], payer: str) -> bool:
    """Whether there is no more room, and nobody has more of it."""
    return sizes.total() > settings.BODIES_MAX_BYTES and sizes[payer] == max(sizes.values())


def refuse_reader(environ: Mapping[str, str]) -> None:
    """Raises TooManyBodies where answers that wait for this network take the room of others."""
    if _answers and _holds_most(_answers, site_of(environ)):
        raise TooManyBodies(
            "Most of the large answers that wait for a slow reader are for your network."
        )


@contextmanager
def answer_kept(environ: Mapping[str, str], size: int) -> Iterator[None]:
    """Count an answer while it waits for its reader; those that fit into memory are not counted."""
    payer = site_of(environ) if size > ANSWER_MEMORY_BYTES else ""
    if payer:
        _answers[payer] += size
    try:
        yield
    finally:
        if payer:
            _answers[payer] -= size
            if not _answers[payer]:
                del _answers[payer]


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
