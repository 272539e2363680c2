"""The highest measured load at which a figure is under a limit, and how sure that is."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import Struct


# A comparison makes hundreds, and a frozen dataclass takes ten times as long to make.
class Bounded(Struct, frozen=True, gc=False):
    """A figure at a load with its interval; None if it is not known."""

    x: float
    value: float | None
    low: float | None
    high: float | None
    # False where too many attempts failed or the rate was not reached: never under the limit.
    counts: bool = True

    def under(self, limit: float) -> bool:
        return self.counts and self.value is not None and self.value <= limit

    def surely_under(self, limit: float) -> bool:
        return self.counts and self.high is not None and self.high <= limit

    def possibly_under(self, limit: float) -> bool:
        """Whether the interval reaches below the limit; without an interval it may."""
        return self.counts and self.value is not None and (self.low is None or self.low <= limit)


@dataclass(frozen=True, slots=True)
class Highest:
    """Loads that were measured, never ones between them. low ≤ x ≤ high where known."""

    # The highest load whose figure is under the limit.
    x: float | None
    # The highest load whose whole interval is under the limit, and whose interval partly is.
    low: float | None
    high: float | None
    # The next load above `x` that was measured and is not under the limit; None at the end.
    next: float | None
    # Loads below `x` whose figure is not under the limit, or not known.
    over: tuple[float, ...]


def highest_under(points: Iterable[Bounded], limit: float) -> Highest:
    """The highest of `points` (in any order) under `limit`, both in the same unit."""
    ordered = sorted(points, key=lambda point: point.x)
    x = _highest(point for point in ordered if point.under(limit))
    below, above = _around(ordered, x)
    return Highest(
        x=x,
        low=_highest(point for point in ordered if point.surely_under(limit)),
        high=_highest(point for point in ordered if point.possibly_under(limit)),
        next=above[0].x if above else None,
        over=tuple(point.x for point in below if not point.under(limit)),
    )


def _around(
    ordered: Sequence[Bounded], x: float | None
) -> tuple[Sequence[Bounded], Sequence[Bounded]]:
    """The points below `x`, and the points above it; for None, all points are above."""
    if x is None:
        return (), ordered
    begin = bisect_left(ordered, x, key=lambda point: point.x)
    end = bisect_right(ordered, x, key=lambda point: point.x)
    return ordered[:begin], ordered[end:]


def _highest(points: Iterable[Bounded]) -> float | None:
    return max((point.x for point in points), default=None)
