"""The columns of a figure at a point: value, interval, and what a reader must know of it."""

from msgspec import UNSET

from backend.analysis.figures import Measure, Metric

_UNITS = {"req/s": "_rps", "us": "_us", "bytes": "_bytes", "bytes/s": "_bytes_s", "s": "_s"}
_OF_EACH = ("", "_low", "_high", "_interval", "_set_aside")
# Of latencies, which load tools round.
_OF_ROUNDED = ("_below", "_step")


def column_of(metric: Metric) -> str:
    """The name of a metric with its unit: `p99_us`."""
    return metric.id.replace("/", "_") + _UNITS.get(metric.unit, "")


def measure_columns(metric: Metric) -> list[str]:
    ends = (*_OF_EACH, *_OF_ROUNDED) if metric.unit == "us" else _OF_EACH
    return [f"{column_of(metric)}{end}" for end in ends]


def measure_values(metric: Metric, measure: Measure | None) -> list[str | float | None]:
    """Value, interval, name of the interval, number of trials set aside; of a latency also what it
    is below, and the step of the load tool.

    A latency below the step of the tool has no value: the tool rounded it to 0.
    """
    if measure is None:
        return [None] * len(measure_columns(metric))
    step = None if measure.step is UNSET else measure.step
    is_below = step is not None and measure.value is not None and measure.value < step
    set_aside = 0 if measure.set_aside is UNSET else len(measure.set_aside)
    value, low = (None, None) if is_below else (measure.value, measure.low)
    values: list[str | float | None] = [value, low, measure.high, measure.interval, set_aside]
    return [*values, step if is_below else None, step] if metric.unit == "us" else values
