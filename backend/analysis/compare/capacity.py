"""The highest load of each series with p99 under a limit, and how certain that is.

It is a load that was measured; nothing is interpolated, and what was not measured is named.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from backend.analysis import figures
from backend.analysis.grouping.measure_texts import measure_text, measure_with_interval
from backend.analysis.grouping.points import Point, plain_load
from backend.analysis.grouping.sweep import (
    Sweep,
    join_series,
    load_of,
    throughput_at,
    unmeasured,
)
from backend.analysis.query.metrics import TAIL, Metric
from backend.analysis.query.units import (
    figure_text,
    load_number,
    load_text,
    time_text,
)
from backend.stats.limit import Bounded, Highest, highest_under
from backend.stats.thresholds import LEAST_TRIALS

# What a reader may limit.
LIMITED = TAIL
# What a series does at its highest load, for each metric that can order the series.
_REACHES = {
    "throughput": "serves {}",
    "goodput": "serves {} successfully",
    "achieved": "reaches {} of the offered rate",
    "transfer": "sends {}",
}


@dataclass(frozen=True, slots=True)
class CapacityRow:
    """A row of `capacity` in the figures, with what its sentence needs."""

    sweep: Sweep
    highest: Highest
    why: str

    def to_record(self) -> figures.CapacityRow:
        return figures.CapacityRow(
            series=self.sweep.group.id,
            x=plain_load(self.highest.x),
            throughput=throughput_at(self.sweep, self.highest.x),
            low=plain_load(self.highest.low),
            high=plain_load(self.highest.high),
            why=self.why,
        )


def find_capacities(
    sweeps: Sequence[Sweep],
    *,
    limit_us: float,
    axis: str,
    loads: Sequence[float] = (),
) -> list[CapacityRow]:
    """`capacity.rows` of the figures: the highest measured load with p99 of at most `limit_us`.

    A point that did not reach its rate, or with more than 1 % of failures, never counts as under.
    `loads`: every load of the comparison; those that a series lacks are named where it matters.
    """
    rows = []
    for sweep in sweeps:
        highest = highest_under(map(_bounded, sweep.points), limit_us)
        why = "; ".join(_capacity_why(sweep, highest, limit_us, (axis, loads)))
        rows.append(CapacityRow(sweep, highest, why))
    return rows


def _bounded(point: Point) -> Bounded:
    measure = point.metrics[LIMITED]
    counts = not point.failing and not point.overload
    return Bounded(load_of(point), measure.value, *measure.bounds, counts)


def highest_load_under(sweep: Sweep, limit: float) -> Point | None:
    """The point of the highest measured load with p99 of at most `limit`; None where none is."""
    highest = highest_under(map(_bounded, sweep.points), limit)
    return None if highest.x is None else sweep.at(highest.x)


def why_over(point: Point, limit: float) -> str | None:
    """`p99 71 ms > 50 ms`: why a point does not count as under the limit; None if it does."""
    p99 = point.metrics[LIMITED]
    if point.failing or point.overload or p99.value is None:
        return _over(point)
    return f"p99 {measure_text(p99, 'us')} > {time_text(limit)}" if p99.value > limit else None


Side = Literal["over", "under"]


def _doubtful_side(point: Point, limit: float) -> Side | None:
    """On which other side of the limit the p99 of a point may be: its interval reaches there, or it
    has none. None if it is certain, unknown, or does not count."""
    p99 = point.metrics[LIMITED]
    if p99.value is None or point.failing or point.overload:
        return None
    is_over = p99.value > limit
    bound = p99.bounds[0 if is_over else 1]
    if bound is not None and (bound > limit) == is_over:
        return None
    return "under" if is_over else "over"


def limit_doubt(point: Point, limit: float, label: str = "") -> str | None:
    """`p99 of nginx may be over 20 ms: 19.3 ms [17.9, 20.8]`; see `brief_limit_doubt`."""
    brief = brief_limit_doubt(point, limit, label)
    return None if brief is None else f"{brief}: {_shown(point)}"


def brief_limit_doubt(point: Point, limit: float, label: str = "") -> str | None:
    """`p99 of nginx may be over 20 ms`, or `p99 may be over 20 ms` without a label; see
    `_doubtful_side`."""
    side, of = _doubtful_side(point, limit), f" of {label}" if label else ""
    return None if side is None else f"{LIMITED}{of} may be {side} {time_text(limit)}"


def is_unknown(point: Point) -> bool:
    """Whether it is unknown if a point is under a limit."""
    counts = not point.failing and not point.overload
    return counts and point.metrics[LIMITED].value is None


def _capacity_why(
    sweep: Sweep, highest: Highest, limit: float, among: tuple[str, Sequence[float]]
) -> list[str]:
    axis, loads = among
    if highest.x is None:
        return [_never(sweep, highest, limit, axis)]
    by_load = {load_of(point): point for point in sweep.points}
    parts = [f"p99 {_shown(by_load[highest.x])}"]
    if highest.next is None:
        parts.append(f"not tested above {load_text(highest.x, axis)}")
    else:
        parts.append(f"next load {load_text(highest.next, axis)}: {_over(by_load[highest.next])}")
        parts.append(_between(highest.x, highest.next, loads, axis))
    if highest.over:
        listed = "; ".join(f"{load_number(x)} ({_over(by_load[x])})" for x in highest.over[:3])
        parts.append(f"but not at {listed}")
    if by_load[highest.x].metrics[LIMITED].bounds[1] is None:
        parts.append(f"fewer than {LEAST_TRIALS} trials, so the certainty is unknown")
    if by_load[highest.x].metrics[LIMITED].origin == "reported":
        parts.append("as the load tool reports it")
    return parts


def _between(low: float, high: float, loads: Sequence[float], axis: str) -> str:
    missing = unmeasured(loads, low, high)
    text = f"nothing was measured between {load_number(low)} and {load_text(high, axis)}"
    if not missing:
        return text
    return f"{text}; other series were at {' / '.join(map(load_number, missing[:3]))}"


def _never(sweep: Sweep, highest: Highest, limit: float, axis: str) -> str:
    measured = [point for point in sweep.points if point.metrics[LIMITED].value is not None]
    if not measured:
        return "Its p99 is unknown at every load"
    lowest = min(measured, key=load_of)
    high = highest.high
    possibly = (
        "" if high is None else f"; possibly under it at {load_text(high, axis)}, within noise"
    )
    return (
        f"Over {time_text(limit)} at every measured load; the lowest load, "
        f"{load_text(load_of(lowest), axis)}: {_over(lowest)}{possibly}"
    )


def _over(point: Point) -> str:
    """Why a point does not count as under the limit."""
    rate = point.metrics["error_rate"].value
    if point.failing and rate is not None:
        return f"{rate * 100:.3g} % of its requests failed"
    if point.overload:
        return "it did not reach the offered rate"
    return f"p99 {_shown(point)}" if point.metrics[LIMITED].value is not None else "p99 unknown"


def _shown(point: Point) -> str:
    """`9.99 ms [9.97, 10]`: a p99 with its interval."""
    return measure_with_interval(point.metrics[LIMITED], "us") or "unknown"


def capacity_headline(
    rows: Sequence[CapacityRow],
    *,
    limit_us: float,
    axis: str,
    metric: Metric,
    baseline: str | None = None,
) -> str:
    """`With p99 under 10 ms: nginx serves 12,300 requests/s at 256 connections, certain up to 64`

    Ordered by `metric`, a rate, at the highest load of each series. `baseline`: the id of a series
    that is always named, after the series that is best.
    """
    if not rows:
        return "No series was measured at a load, so there is no capacity"
    rates = {row.sweep.group.id: _rate(row, metric) for row in rows}
    best_first = sorted(rows, key=lambda row: -rates[row.sweep.group.id])
    if baseline is not None:
        best, *others = best_first
        others.sort(key=lambda row: row.sweep.group.id != baseline)
        best_first = [best, *others]
    listed = join_series([_capacity_text(row, axis, metric) for row in best_first])
    return f"With p99 under {time_text(limit_us)}: {listed}"


def _rate(row: CapacityRow, metric: Metric) -> float:
    """The metric at the highest load under the limit; -1 if there is none, to come last."""
    points = (point for point in row.sweep.points if point.x == row.highest.x)
    values = (point.metrics[metric.id].value for point in points)
    rate = next(values, None)
    return -1.0 if rate is None else rate


def _capacity_text(row: CapacityRow, axis: str, metric: Metric) -> str:
    label, highest = row.sweep.group.label, row.highest
    if highest.x is None:
        if all(is_unknown(point) for point in row.sweep.points):
            return f"{LIMITED} of {label} is unknown"
        return f"{label} at no measured load{_doubt(highest)}"
    load, rate = load_text(highest.x, axis), _rate(row, metric)
    if rate < 0:
        return f"{label} up to {load}{_doubt(highest)}"
    reached = _REACHES[metric.id].format(figure_text(rate, metric.unit))
    return f"{label} {reached} at {load}{_doubt(highest)}"


def _doubt(highest: Highest) -> str:
    """`, certain up to 64, possibly 256`, as far as these differ from the figure's own load."""
    parts = []
    if highest.low != highest.x:
        parts.append(
            "certain at no load"
            if highest.low is None
            else f"certain up to {load_number(highest.low)}"
        )
    if highest.high is not None and highest.high != highest.x:
        parts.append(f"possibly {load_number(highest.high)}")
    return "".join(f", {part}" for part in parts)
