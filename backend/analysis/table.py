"""A comparison as a flat table: one row for each series at each place on the axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.analysis.metrics import ERROR_CLASSES
from backend.analysis.outcome_words import is_overridden

Value = str | float | int | None

# What a series is, in the order of the columns; `label` is the column `series`.
_OF_SERIES = (
    *("label", "server", "version", "runtime", "configuration", "workload", "tool", "loop"),
    *("host", "load"),
)
_UNITS = {"req/s": "_rps", "us": "_us", "bytes": "_bytes", "bytes/s": "_bytes_s", "s": "_s"}
_SUFFIXES = (("value", ""), ("low", "_low"), ("high", "_high"))
_STATUS = ("outcome", "overridden", "reasons", "truncated")
_AXES = {"rate": "offered_rps", "payload": "payload_bytes"}


def columns_of(figures: Mapping[str, Any]) -> list[str]:
    """The columns; the place is named after the axis, the figures after metric and unit."""
    axis = figures["x"]["field"]
    names = [f"{name}{suffix}" for name in _names(figures).values() for _, suffix in _SUFFIXES]
    place = f"x_{axis}" if axis in _OF_SERIES else _AXES.get(axis, axis)
    head = ["series", *_OF_SERIES[1:], place, "trials", "overload"]
    errors = [f"errors_{name}" for name in ERROR_CLASSES]
    return [*head, *names, *errors, "latency_origin", "checks", *_STATUS]


def rows_of(figures: Mapping[str, Any]) -> list[dict[str, Value]]:
    """The rows of `figures` (the answer of `compare`), in the order of its series."""
    columns, names = columns_of(figures), list(_names(figures))
    status = _status(figures)
    return [
        dict(zip(columns, [*_row(series, point, names), *status], strict=True))
        for series in figures["series"]
        for point in series["points"]
    ]


def _status(figures: Mapping[str, Any]) -> list[Value]:
    """What travels with every row: whether the series may be compared, and what is left out."""
    outcome = figures["outcome"]
    overridden = "yes" if is_overridden(figures) else "no"
    reasons = "; ".join(outcome.get("reasons", []))
    return [outcome["status"], overridden, reasons or None, figures.get("truncated")]


def _names(figures: Mapping[str, Any]) -> dict[str, str]:
    """The metrics that any point has, with the names of their columns.

    Figures that were frozen by an older version have fewer keys.
    """
    points = [point for series in figures["series"] for point in series["points"]]
    present = {name for point in points for name in point["metrics"]}
    return {
        metric["id"]: metric["id"].replace("/", "_") + _UNITS.get(metric["unit"], "")
        for metric in figures.get("metrics", [])
        if metric["id"] in present
    }


def _row(series: Mapping[str, Any], point: Mapping[str, Any], names: list[str]) -> list[Value]:
    overload = {True: "yes", False: "no", None: None}[point["overload"]]
    head = [series.get(name) for name in _OF_SERIES]
    measures = [
        (point["metrics"].get(name) or {}).get(part) for name in names for part, _ in _SUFFIXES
    ]
    errors = [(point.get("errors") or {}).get(name) for name in ERROR_CLASSES]
    origin = (point["metrics"].get("p99") or {}).get("origin")
    checks = " ".join(point["checks"])
    return [*head, point["x"], point["trials"], overload, *measures, *errors, origin, checks]
