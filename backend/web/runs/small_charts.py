"""Small charts of a run: throughput and p99 of each server over its loads, drawn as SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.analysis.query.units import load_number

WIDTH, HEIGHT = 140, 48
MARGIN = 4
MAX_CHARTS = 12
# What each chart shows: the metric, its label, and its kind of number.
PLOTS = (("throughput", "Throughput", "rate"), ("p99", "p99", "time"))


@dataclass(frozen=True, slots=True)
class Plot:
    """The line of one metric. `points`: as SVG wants them; `highest`: of this server."""

    label: str
    kind: str
    points: str
    dots: tuple[tuple[float, float], ...]
    highest: float | None


@dataclass(frozen=True, slots=True)
class SmallChart:
    """The plots of one series, that is one server at one workload, and its first and last load."""

    title: str
    slot: int
    plots: tuple[Plot, ...]
    first_load: str
    last_load: str


def small_charts(rows: Sequence[Mapping[str, Any]]) -> list[SmallChart]:
    """A chart for each series with two loads or more, all on one scale for each metric.

    `rows`: of `summarise_run`. None where more series than `MAX_CHARTS` would need one.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["series"], []).append(row)
    drawn = [group for group in groups.values() if len(group) > 1]
    if not drawn or len(drawn) > MAX_CHARTS:
        return []
    largest = {metric: _largest(drawn, metric) for metric, _, _ in PLOTS}
    has_workloads = len({row["workload"] for row in rows}) > 1
    return [_chart(group, largest, has_workload=has_workloads) for group in drawn]


def _largest(groups: Sequence[Sequence[Mapping[str, Any]]], metric: str) -> float:
    values = (_value(row, metric) for group in groups for row in group)
    return max((value for value in values if value is not None), default=0.0)


def _value(row: Mapping[str, Any], metric: str) -> float | None:
    measure = row["figures"][metric]
    value: float | None = None if measure is None else measure.value
    return value


def _chart(
    rows: Sequence[Mapping[str, Any]], largest: Mapping[str, float], *, has_workload: bool
) -> SmallChart:
    first, last = rows[0], rows[-1]
    return SmallChart(
        title=f"{first['server']} · {first['workload']}" if has_workload else first["server"],
        slot=first["slot"],
        plots=tuple(
            _plot([_value(row, metric) for row in rows], label, kind, largest[metric])
            for metric, label, kind in PLOTS
            if largest[metric] > 0
        ),
        first_load=_load(first),
        last_load=_load(last),
    )


def _plot(values: Sequence[float | None], label: str, kind: str, largest: float) -> Plot:
    step = (WIDTH - 2 * MARGIN) / (len(values) - 1)
    dots = tuple(
        (
            round(MARGIN + at * step, 1),
            round(HEIGHT - MARGIN - value / largest * (HEIGHT - 2 * MARGIN), 1),
        )
        for at, value in enumerate(values)
        if value is not None
    )
    highest = max((value for value in values if value is not None), default=None)
    return Plot(label, kind, " ".join(f"{x},{y}" for x, y in dots), dots, highest)


def _load(row: Mapping[str, Any]) -> str:
    """A load as the axis says it: connections, or the offered rate."""
    if row["connections"] is not None:
        return load_number(row["connections"])
    return "unknown" if row["rate_rps"] is None else f"{load_number(row['rate_rps'])} req/s"
