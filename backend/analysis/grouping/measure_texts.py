"""The figure of a point in a sentence."""

from collections.abc import Callable
from typing import Any, Protocol

from backend.analysis.grouping.measures import RANGE_OF_UNLIKE
from backend.analysis.query.units import figure_text, interval_text, range_text


class Shown(Protocol):
    """A measure, or its record."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def interval(self) -> str | None: ...
    @property
    def step(self) -> Any: ...


def measure_text(
    measure: Shown, unit: str, write: Callable[[float, str], str] = figure_text
) -> str | None:
    """`4.2 ms`, `< 1 ms` below the smallest step of the load tool, or `10 to 500 ms` of trials that
    are too unlike for a mean; None if it is unknown.
    """
    if measure.value is None:
        return None
    if (ends := range_of_unlike(measure)) is not None:
        return range_text(*(write(end, unit) for end in ends))
    step = measure.step or 0.0
    return f"< {write(step, unit)}" if measure.value < step else write(measure.value, unit)


def measure_with_interval(measure: Shown, unit: str) -> str | None:
    """`9.99 ms [9.97, 10]`; as `measure_text` where the interval is unknown, has a range in its
    place, or is below the step of the load tool."""
    text = measure_text(measure, unit)
    if text is None or measure.low is None or measure.high is None:
        return text
    if range_of_unlike(measure) is not None or measure.high <= (measure.step or 0.0):
        return text
    return interval_text(text, measure.low, measure.high, unit)


def range_of_unlike(measure: Shown) -> tuple[float, float] | None:
    """The least and the largest of trials that have no level in common; None of others."""
    if measure.interval != RANGE_OF_UNLIKE or measure.low is None or measure.high is None:
        return None
    return measure.low, measure.high
