"""A series with its points, and what several views read of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.analysis.grouping.grouping import SeriesGroup
from backend.analysis.grouping.points import Point
from backend.analysis.query.field import Value

# How many series a sentence names.
MAX_SERIES_NAMED = 3


@dataclass(frozen=True, slots=True)
class Sweep:
    """One series with the figures of its points, in the order of x."""

    group: SeriesGroup
    points: tuple[Point, ...]

    def at(self, x: Value) -> Point | None:
        return next((point for point in self.points if point.x == x), None)


def throughput_at(sweep: Sweep, x: float | None) -> float | None:
    """The throughput of the point at `x`; None if there is none."""
    figures = (point.metrics["throughput"].value for point in sweep.points if point.x == x)
    return next(figures, None)


def load_of(point: Point) -> float:
    """The load of a point on an axis of loads."""
    return float(point.x or 0)


def join_series(texts: Sequence[str], separator: str = "; ") -> str:
    """`nginx; caddy; haproxy; 17 more series`: texts of series in a sentence, three at most."""
    more = len(texts) - MAX_SERIES_NAMED
    counted = [f"{more} more series"] if more > 0 else []
    return separator.join([*texts[:MAX_SERIES_NAMED], *counted])


def unmeasured(loads: Iterable[float], low: float | None, high: float | None) -> list[float]:
    """The loads between two neighbours of a series at which only others were measured."""
    if low is None or high is None:
        return []
    return sorted({float(x) for x in loads if low < x < high})
