"""A comparison as a flat table of the asked view, for exports. Unknown is None.

The columns of a figure at a point are its value, its interval, and what a reader must know of it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from msgspec import UNSET
from msgspec.structs import replace

from backend.analysis.export.comparability_text import is_overridden
from backend.analysis.figures import (
    Figures,
    Measure,
    Metric,
    Outcome,
    Place,
    Point,
    Ranking,
    RankRow,
    Series,
)
from backend.analysis.record import Record
from backend.formats.model import ERROR_CLASSES

Value = str | float | int | None
Row = Sequence[Value]
# The columns of a table, and its rows.
Body = tuple[Sequence[str], Iterable[Row]]

# What a series is, in the order of the columns: the field of the record, and the column.
_OF_SERIES = {
    "label": "series",
    **{name: name for name in ("server", "version", "runtime", "configuration", "workload")},
    **{name: name for name in ("tool", "loop", "host", "load")},
    "facet": "panel",
}
_PANEL = _OF_SERIES["facet"]
_STATUS = ("outcome", "intent", "confounded", "overridden", "reasons", "truncated")
_AXES = {"rate": "offered_rps", "payload": "payload_bytes"}
_RANGE = ("", "_low", "_high")
_MEASURE = ("value", "low", "high")
_TRENDS = ("version", "date")
_UNITS = {"req/s": "_rps", "us": "_us", "bytes": "_bytes", "bytes/s": "_bytes_s", "s": "_s"}
_OF_EACH = ("", "_low", "_high", "_interval")
# Of latencies, which load tools round.
_OF_ROUNDED = ("_below", "_step")


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Some columns, and what stands in them in the row of a series at a point."""

    columns: Sequence[str]
    read: Callable[[Series, Point], Row]


def table_of(figures: Figures, view: str | None = None) -> Table:
    """The table of `view`, or of the view that the query asks for.

    Where that view has nothing to show (no histogram, no ratios), the sweep's: the rows still say
    whether the series may be compared.
    """
    asked = view or parse_qs(figures.query).get("view", ["sweep"])[-1]
    columns, rows = _VIEWS.get(asked, _sweep)(figures) or _sweep(figures)
    if columns[0] == "server":
        figures = replace(figures, outcome=_outcome_of_ratios(figures))
    status = _status(figures, columns)
    return Table((*columns, *_STATUS), tuple((*row, *status(row)) for row in rows))


def _sweep(figures: Figures, *more: Part) -> Body:
    parts = [
        _points(figures),
        _ranking(figures),
        *_capacity(figures),
        *([_changes(figures)] if figures.x.field in _TRENDS else []),
        *more,
        *_not_read(figures),
    ]
    columns = [*_OF_SERIES.values(), *(name for part in parts for name in part.columns)]
    rows = [
        [*_identity(series), *(value for part in parts for value in part.read(series, point))]
        for series in figures.series
        for point in series.points
    ]
    return columns, [*rows, *_rows_without_figures(figures, columns)]


_NOT_READ = ("not_read_trials", "not_read_why")


def _not_read(figures: Figures) -> list[Part]:
    """How many trials of a point are in no figure, and why; no columns where all are read."""
    by_point = _not_read_by_point(figures)
    if not by_point:
        return []
    return [_by_point(_NOT_READ, by_point)]


def _not_read_by_point(figures: Figures) -> dict[tuple[str, Place | None], Row]:
    rows = () if figures.not_read is UNSET else figures.not_read
    points = dict.fromkeys((row.series, row.x) for row in rows)
    return {
        point: [
            sum(row.trials for row in rows if (row.series, row.x) == point),
            "; ".join(row.reason for row in rows if (row.series, row.x) == point),
        ]
        for point in points
    }


def _rows_without_figures(figures: Figures, columns: Sequence[str]) -> Iterator[Row]:
    """A row for each point of which nothing could be read."""
    shown = {(series.id, point.x) for series in figures.series for point in series.points}
    labels = {} if figures.not_read is UNSET else {r.series: r.label for r in figures.not_read}
    for (series, x), values in _not_read_by_point(figures).items():
        if (series, x) in shown:
            continue
        cells = {_OF_SERIES["label"]: labels[series], _place(figures): x}
        cells |= zip(_NOT_READ, values, strict=True)
        yield [cells.get(column) for column in columns]


def _tradeoff(figures: Figures) -> Body:
    """The sweep with the knee of each series."""
    place = _place(figures)
    columns = (f"knee_{place}", "knee_throughput_rps", "knee_why")
    knees = {knee.series: _parts(knee, ("x", "throughput", "why")) for knee in figures.knees}
    return _sweep(figures, _by_series(columns, knees))


def _nines(figures: Figures) -> Body | None:
    """The latency at each percent of the requests, and how many requests those are."""
    curves = figures.curves
    if curves is None:
        return None
    series = {item.id: item for item in figures.series}
    ranked = {row.series: ranking.x for ranking, row in _ranked_rows(figures)}
    columns = [*_OF_SERIES.values(), _place(figures), "percent", "latency_us", "count"]
    rows = [
        [*_identity(series[curve.series]), at, percent, us, curve.count]
        for curve in curves.series
        # Panels may be ranked at places of their own.
        for at in [ranked.get(curve.series) if curves.at is None else curves.at]
        for percent, us in curve.points
    ]
    return columns, rows


def _ratios(figures: Figures) -> Body | None:
    """Every server on every workload, and the geometric mean of the server's ratios."""
    ratios = figures.ratios
    if ratios is None:
        return None
    place, baseline = _place(figures), ratios.baseline.label
    columns = ["server", "workload", place, "metric", "ratio_to", *_RATIO, *_MEAN]
    loads: Sequence[Value] = ratios.loads or [None] * len(ratios.columns)
    means = ratios.means or [None] * len(ratios.rows)
    over = ", ".join(ratios.means_over)
    rows = []
    for server, cells, mean in zip(ratios.rows, ratios.cells, means, strict=True):
        tail = [*_parts(mean, (*_MEASURE, "verdict", "scope")), over if mean else None]
        for workload, load, cell in zip(ratios.columns, loads, cells, strict=True):
            head = [server, workload, load, figures.metric, baseline]
            rows.append([*head, *_parts(cell, _RATIO_PARTS), *tail])
    return columns, rows


_RATIO = (*(f"ratio{end}" for end in _RANGE), "verdict", "scope", "why")
_RATIO_PARTS = (*_MEASURE, "verdict", "scope", "why")
_MEAN = (*(f"mean_ratio{end}" for end in _RANGE), "mean_verdict", "mean_scope", "mean_over")
_VIEWS: Mapping[str, Callable[[Figures], Body | None]] = {
    "nines": _nines,
    "ratios": _ratios,
    "tradeoff": _tradeoff,
}


def _points(figures: Figures) -> Part:
    metrics = _metrics(figures)
    measures = [column for metric in metrics for column in measure_columns(metric)]
    errors = [f"errors_{name}" for name in ERROR_CLASSES]
    columns = [_place(figures), "trials", "overload", *measures, *errors]

    def read(_: Series, point: Point) -> Row:
        overload = {True: "yes", False: "no", None: None}[point.overload]
        shares = point.errors or {}
        values = [
            value
            for metric in metrics
            for value in measure_values(metric, point.metrics.get(metric.id))
        ]
        [origin] = _parts(point.metrics.get("p99"), ["origin"])
        head = [point.x, point.trials, overload, *values, *map(shares.get, ERROR_CLASSES)]
        return [*head, origin, " ".join(point.checks)]

    return Part([*columns, "latency_origin", "checks"], read)


def _ranking(figures: Figures) -> Part:
    """Where a series is ranked: its place there, and its ratio to the baseline."""
    labels = {series.id: series.label for series in figures.series}
    by_point = {
        (row.series, ranking.x): [
            ranking.metric,
            row.tier,
            labels.get(ranking.baseline or ""),
            *_parts(row.ratio, (*_MEASURE, "verdict", "scope")),
            row.why or (row.ratio.why if row.ratio else None),
        ]
        for ranking, row in _ranked_rows(figures)
    }
    columns = ("ranked_by", "tier", "ratio_to", *_RATIO)
    return _by_point(columns, by_point)


def _ranked_rows(figures: Figures) -> list[tuple[Ranking, RankRow]]:
    """Every ranking, that of each panel where there are panels, with each of its rows."""
    panels = figures.panels
    rankings = [panel.ranking for panel in panels] if panels else [figures.ranking]
    return [(ranking, row) for ranking in rankings if ranking for row in ranking.rows]


def _capacity(figures: Figures) -> list[Part]:
    """The highest load of a series under the asked limit, in each of its rows; and of which points
    it is not certain on which side they are."""
    place, capacity = _place(figures), figures.capacity
    if capacity is None:
        return []
    fields = ("x", "low", "high", "throughput", "why")
    rows = {row.series: [capacity.limit_us, *_parts(row, fields)] for row in capacity.rows}
    loads = [f"capacity_{place}{end}" for end in _RANGE]
    columns = ("limit_us", *loads, "capacity_throughput_rps", "capacity_why")
    doubts = {
        (series.id, point.x): _parts(point, ["limit_doubt"])
        for series in figures.series
        for point in series.points
    }
    return [_by_series(columns, rows), _by_point(["limit_doubt"], doubts)]


def _changes(figures: Figures) -> Part:
    """Where a series changed: the level before and since, and their ratio."""
    metric = next(item for item in figures.metrics if item.id == figures.metric)
    levels = [f"{column_of(metric)}_{when}" for when in ("before", "after")]
    columns = (*levels, *(f"change{end}" for end in _RANGE), "change_verdict")
    keys = ("before", "after", "ratio", "low", "high", "verdict")
    by_point = {(change.series, change.x): _parts(change, keys) for change in figures.changes}
    return _by_point(columns, by_point)


def _by_series(columns: Sequence[str], rows: Mapping[str, Row]) -> Part:
    """The columns about a whole series: equal in each of its rows."""
    empty = (None,) * len(columns)
    return Part(columns, lambda series, _: rows.get(series.id, empty))


def _by_point(columns: Sequence[str], rows: Mapping[tuple[str, Any], Row]) -> Part:
    """The columns about a series at a place."""
    empty = (None,) * len(columns)
    return Part(columns, lambda series, point: rows.get((series.id, point.x), empty))


def _identity(series: Series) -> list[Value]:
    return _parts(series, tuple(_OF_SERIES))


def _parts(record: Record | None, fields: Sequence[str]) -> list[Value]:
    """The values of these fields; None if there is no record, or an older one without it."""
    values = [None if record is None else getattr(record, field) for field in fields]
    return [None if value is UNSET else value for value in values]


def _place(figures: Figures) -> str:
    """The column of the place on the axis, renamed where a series column has the same name."""
    axis = figures.x.field
    return f"x_{axis}" if axis in _OF_SERIES else _AXES.get(axis, axis)


def _outcome_of_ratios(figures: Figures) -> Outcome:
    """A table of ratios compares by workload; older snapshots have no outcome of that."""
    if figures.ratios is None or figures.ratios.outcome is UNSET:
        return figures.outcome
    return figures.ratios.outcome


def _status(figures: Figures, columns: Sequence[str]) -> Callable[[Row], Row]:
    """What travels with every row: whether the series of its panel may be compared, and what is
    left out of them all."""
    panels = {panel.value: panel.outcome for panel in figures.panels or ()}
    place = columns.index(_PANEL) if panels and _PANEL in columns else None

    def read(row: Row) -> Row:
        # A row without figures has no panel.
        panel = None if place is None else row[place]
        outcome = figures.outcome if panel is None else panels[str(panel)]
        is_asked = is_overridden(figures) if outcome.overridden is UNSET else outcome.overridden
        return [
            outcome.status,
            outcome.intent,
            ", ".join(outcome.confounded) or None,
            "yes" if is_asked else "no",
            "; ".join(outcome.reasons) or None,
            figures.truncated,
        ]

    return read


def _metrics(figures: Figures) -> list[Metric]:
    """The metrics that any point has."""
    points = [point for series in figures.series for point in series.points]
    present = {name for point in points for name in point.metrics}
    return [metric for metric in figures.metrics if metric.id in present]


def column_of(metric: Metric) -> str:
    """The name of a metric with its unit: `p99_us`."""
    return metric.id.replace("/", "_") + _UNITS.get(metric.unit, "")


def measure_columns(metric: Metric) -> list[str]:
    ends = (*_OF_EACH, *_OF_ROUNDED) if metric.unit == "us" else _OF_EACH
    return [f"{column_of(metric)}{end}" for end in ends]


def measure_values(metric: Metric, measure: Measure | None) -> list[str | float | None]:
    """Value, interval, name of the interval; of a latency also what it is below, and the step of
    the load tool.

    A latency below the step of the tool has no value: the tool rounded it to 0.
    """
    if measure is None:
        return [None] * len(measure_columns(metric))
    step = None if measure.step is UNSET else measure.step
    is_below = step is not None and measure.value is not None and measure.value < step
    value, low = (None, None) if is_below else (measure.value, measure.low)
    values: list[str | float | None] = [value, low, measure.high, measure.interval]
    return [*values, step if is_below else None, step] if metric.unit == "us" else values
