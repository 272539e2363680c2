"""Loadsheet beside a Bencher server: in one run, in alternating pairs.

Both share the cores with everything else on the machine, so that the ratio of a pair counts, and
not its figures.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

PAIRS = 4
# What is asked of the ratio.
AIM = 1.5


@dataclass(frozen=True, slots=True)
class Pair:
    """Uploads a second that are stored and queryable, one after the other."""

    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs if self.theirs else float("nan")


def alternate(
    ours: Callable[[], float], theirs: Callable[[], float], *, pairs: int = PAIRS
) -> Iterator[Pair]:
    """Measure both, each first as often as the other."""
    for number in range(pairs):
        if number % 2 == 0:
            our_rate = ours()
            yield Pair(our_rate, theirs())
        else:
            their_rate = theirs()
            yield Pair(ours(), their_rate)


def summary(pairs: Sequence[Pair]) -> str:
    """The median of the ratios, and between which they lie."""
    ratios = sorted(pair.ratio for pair in pairs)
    return f"{median(ratios):.2f} times in the median, {ratios[0]:.2f} to {ratios[-1]:.2f}"
