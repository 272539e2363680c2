"""A comparison as a flat table: one row for each series at each load point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Value = str | float | int | None

_METRICS = (
    ("throughput", "throughput_rps"),
    ("p50", "p50_us"),
    ("p99", "p99_us"),
    ("error_rate", "error_rate"),
)
_SUFFIXES = (("value", ""), ("low", "_low"), ("high", "_high"))


def columns_of(figures: Mapping[str, Any]) -> list[str]:
    """The columns; the load point is named after the axis."""
    axis = "connections" if figures["x"]["field"] == "connections" else "offered_rps"
    figures_columns = [f"{name}{suffix}" for _, name in _METRICS for _, suffix in _SUFFIXES]
    return [
        *("series", "server", "version", "workload", "tool", "host", axis, "trials", "overload"),
        *figures_columns,
        *("latency_origin", "checks"),
    ]


def rows_of(figures: Mapping[str, Any]) -> list[dict[str, Value]]:
    """The rows of `figures` (the answer of `compare`), in the order of its series."""
    columns = columns_of(figures)
    return [
        dict(zip(columns, _row(series, point), strict=True))
        for series in figures["series"]
        for point in series["points"]
    ]


def _row(series: Mapping[str, Any], point: Mapping[str, Any]) -> list[Value]:
    overload = {True: "yes", False: "no", None: None}[point["overload"]]
    head = [series[name] for name in ("label", "server", "version", "workload", "tool", "host")]
    measures = [point["metrics"][metric][part] for metric, _ in _METRICS for part, _ in _SUFFIXES]
    origin = point["metrics"]["p99"]["origin"]
    checks = " ".join(point["checks"])
    return [*head, point["x"], point["trials"], overload, *measures, origin, checks]
