"""The fields of a comparison: each may filter; most may be the x axis, the series or the facets.

One table. Adding a field is adding a line to FIELDS.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from backend.analysis.query.records import LoadedCell, LoadedHost, LoadedSeries

Value = str | int | float | None
# What a field belongs to: where it is filtered, and what a value of it is known of.
Level = Literal["series", "run", "load"]
UNKNOWN = "unknown"


class OfRun(Protocol):
    """What a run adds to a comparison."""

    @property
    def started_at(self) -> datetime | None: ...
    @property
    def recorded_at(self) -> datetime: ...
    @property
    def labels(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that results differ in.

    `values`: the values of a series, as they stand in a link; None is unknown.
    `aliases`: other spellings of a value that a link may have; slugs are read by names.renamed.
    `covers`: the parts of the identity that differ along with it, and so make no series when it
    is the x axis.
    """

    id: str
    label: str
    level: Level
    values: Callable[[LoadedSeries], Sequence[Value]] = lambda _: ()
    aliases: Callable[[LoadedSeries], Sequence[str]] = lambda _: ()
    covers: tuple[str, ...] = ()
    kind: Literal["category", "number"] = "category"


def _host_values(host: LoadedHost | None) -> Sequence[Value]:
    return (None,) if host is None else (host.label,)


def _host_aliases(host: LoadedHost | None) -> Sequence[str]:
    return () if host is None else (str(host.id),)


def _configuration(series: LoadedSeries) -> Sequence[Value]:
    return series.server.settings or (None,)


_SERVER = ("name", "version", "runtime", "configuration")
_HOSTS = ("server_host", "client_host")
FIELDS = {
    field.id: field
    for field in (
        Field(
            "server",
            "Server",
            "series",
            lambda series: (series.server.name,),
            lambda series: (str(series.server.id),),
            _SERVER,
        ),
        Field(
            "version",
            "Version",
            "series",
            lambda series: (series.server.version,),
            covers=_SERVER[1:2],
        ),
        Field(
            "runtime",
            "Runtime",
            "series",
            lambda series: (series.server.runtime,),
            covers=_SERVER[2:3],
        ),
        Field("configuration", "Configuration", "series", _configuration, covers=_SERVER[3:]),
        Field(
            "host",
            "Server host",
            "series",
            lambda series: _host_values(series.server_host),
            lambda series: _host_aliases(series.server_host),
            _HOSTS,
        ),
        Field(
            "client",
            "Client host",
            "series",
            lambda series: _host_values(series.client_host),
            lambda series: _host_aliases(series.client_host),
            _HOSTS,
        ),
        Field(
            "workload",
            "Workload",
            "series",
            lambda series: (series.workload.name,),
            lambda series: (str(series.workload.id),),
            ("workload", "payload"),
        ),
        Field(
            "payload",
            "Payload (bytes)",
            "series",
            lambda series: (series.workload.payload_bytes,),
            covers=("workload", "payload"),
            kind="number",
        ),
        Field(
            "tool",
            "Load tool",
            "series",
            lambda series: (series.tool,),
            covers=("tool", "tool_version"),
        ),
        Field(
            "tool_version",
            "Load tool version",
            "series",
            lambda series: (series.tool_version,),
            covers=("tool_version",),
        ),
        Field("loop", "Loop", "series", lambda series: (series.loop,), covers=("loop",)),
        Field("connections", "Connections", "load", covers=("connections",), kind="number"),
        Field("rate", "Offered requests/s", "load", covers=("rate",), kind="number"),
        Field("label", "Label", "run", covers=("label",)),
        Field("run", "Run", "run"),
        Field("date", "Date", "run", covers=("date",)),
    )
}

# The parts that make a series together; each is what two results must share to be of one.
IDENTITY: dict[str, Callable[[LoadedCell], object]] = {
    "name": lambda cell: cell.server.name,
    "version": lambda cell: cell.server.version,
    "runtime": lambda cell: cell.server.runtime,
    "configuration": lambda cell: cell.server.settings,
    "server_host": lambda cell: _id(cell.series.server_host),
    "client_host": lambda cell: _id(cell.series.client_host),
    "workload": lambda cell: (cell.workload.name, cell.workload.path),
    "payload": lambda cell: cell.workload.payload_bytes,
    "request": lambda cell: (
        cell.workload.method,
        cell.workload.keepalive,
        cell.workload.tls,
        tuple(sorted((name, str(value)) for name, value in cell.workload.headers.items())),
        cell.workload.body_sha256,
    ),
    "tool": lambda cell: cell.series.tool,
    "tool_version": lambda cell: cell.series.tool_version,
    "loop": lambda cell: cell.series.loop,
    "connections": lambda cell: cell.connections,
    "rate": lambda cell: cell.rate_rps,
}


def _id(host: LoadedHost | None) -> uuid.UUID | None:
    return None if host is None else host.id


_OF_SERIES = tuple(name for name, field in FIELDS.items() if field.level == "series")
# What may make a series, or divide a chart into panels.
GROUPING = (*_OF_SERIES, "connections", "rate", "date", "label")
AXES = ("connections", "rate", *_OF_SERIES, "date", "label")


def spellings_of(field: Field, series: LoadedSeries) -> frozenset[str]:
    """Every spelling in a link that means a value of this series."""
    return frozenset((*texts_of(field, series), *field.aliases(series)))


def texts_of(field: Field, series: LoadedSeries) -> tuple[str, ...]:
    """The values of a series as they stand in a link."""
    return tuple(UNKNOWN if value is None else text_of(value) for value in field.values(series))


def text_of(value: str | float) -> str:
    """A value as it stands in a link and on an axis of categories."""
    if isinstance(value, float):
        return number_text(value)
    return str(value)


def number_text(value: float) -> str:
    """A load point in full: 64, 1234567, 0.5; no exponent that a browser would spell otherwise."""
    return f"{value:.0f}" if float(value).is_integer() and value < 1e15 else repr(value)


def value_of(field: Field, cell: LoadedCell) -> Value:
    """The one value of a cell on an axis; several settings of a configuration stand together."""
    if field.id == "connections":
        return cell.connections
    if field.id == "rate":
        return cell.rate_rps
    if field.id == "date":
        return run_time_text(cell.run)
    if field.id == "label":
        return run_labels_text(cell.run)
    return value_of_series(field, cell.series)


def value_of_series(field: Field, series: LoadedSeries) -> Value:
    """The one value of a series on an axis."""
    values = field.values(series)
    if field.kind == "number" or len(values) == 1:
        return values[0]
    return ", ".join(text_of(value) for value in values if value is not None)


def run_time_text(run: OfRun) -> str:
    """When a run happened, as it stands on an axis."""
    when = run.started_at or run.recorded_at
    return f"{when:%Y-%m-%d %H:%M:%S}"


def run_labels_text(run: OfRun) -> str | None:
    """All labels of a run together; None where it has none.

    One with a comma or a quote is quoted, so that no two sets of labels read the same.
    """
    texts = (f"{key}:{text}" for key, text in sorted(run.labels.items()))
    return ", ".join(_quoted(text) if {",", '"'} & set(text) else text for text in texts) or None


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


# What a run adds where a link asks for it: when something was measured, and how its run is
# labelled, is no part of what was measured.
RUN_PARTS: dict[str, Callable[[LoadedCell], str | None]] = {
    "date": lambda cell: run_time_text(cell.run),
    "label": lambda cell: run_labels_text(cell.run),
}
