"""The trials of a run as they are shown, read as plain rows.

A run has hundreds of trials: to make an object of the models for each, with its cell, takes longer
than everything else that an answer about the run needs.
"""

from __future__ import annotations

import shlex
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from msgspec import Struct, json

from backend.runs.among import among
from backend.runs.models import Cell, Series, Trial


class ShownSeries(Struct, frozen=True, gc=False):
    """A series by its names."""

    # Name and version.
    server: str
    slot: int
    workload: str
    tool: str
    tool_version: str | None
    loop: str


class ShownCell(Struct, frozen=True, gc=False):
    """A load point, and the series that it is of."""

    pk: str
    series_id: uuid.UUID
    connections: int | None
    rate_rps: float | None
    series: ShownSeries


# In the order in which its columns are read: first ids and plain ones, then those of JSON. The ids
# are text: to make UUIDs, to look them up and to write them takes ten times as long.
class ShownTrial(Struct, frozen=True, gc=False):
    """A trial with the attributes that `Trial` has, as far as they are shown."""

    pk: str
    run_id: uuid.UUID
    cell: ShownCell
    ordinal: int
    repeat: int | None
    warmup: bool
    phase: str | None
    started_at: datetime | None
    elapsed_s: float | None
    throughput_rps: float | None
    requests_completed: int | None
    reported_rps: float | None
    latency_resolution_us: float | None
    percentiles_origin: str | None
    error_rate: float | None
    server_tail: str
    exit_code: int | None
    incomplete: bool
    error: str
    output_sha256: bytes | None
    percentiles_us: Mapping[str, Any]
    errors: Mapping[str, Any]
    checks: Sequence[dict[str, str]]
    resources: Mapping[str, Any]
    load: Mapping[str, Any]
    # As a shell reads it.
    command: str


_JSON = ("percentiles_us", "errors", "checks", "resources", "load", "command")
_PLAIN = ShownTrial.__struct_fields__[3 : -len(_JSON)]
_SERIES = (
    *("pk", "server__name", "server__version", "server__slot", "workload__name"),
    *("tool", "tool_version", "loop"),
)


def read_shown_trials(trials: QuerySet[Trial]) -> list[ShownTrial]:
    """The trials in order."""
    pk, cell, *texts = (Cast(name, TextField()) for name in ("pk", "cell", *_JSON))
    rows = list(trials.order_by("ordinal").values_list(pk, "run_id", cell, *_PLAIN, *texts))
    cells = _cells({cell_id for _, _, cell_id, *_ in rows})
    values = _Remembered(lambda value: value)
    commands = _Remembered(lambda command: shlex.join(map(str, command)))
    json_at = -len(_JSON)
    return [
        ShownTrial(
            *(pk, run_id, cells[cell_id], *rest[:json_at]),
            *(*map(values.__getitem__, rest[json_at:-1]), commands[rest[-1]]),
        )
        for pk, run_id, cell_id, *rest in rows
    ]


class _Remembered(dict[str, Any]):
    """By text of JSON, what `read` makes of its value: the trials of a run have many in common.

    Equal texts give one object, which nobody may change.
    """

    def __init__(self, read: Callable[[Any], Any]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, text: str) -> Any:
        self[text] = self._read(json.decode(text))
        return self[text]


def _cells(ids: Iterable[str]) -> dict[str, ShownCell]:
    columns = (Cast("pk", TextField()), "series_id", "connections", "rate_rps")
    rows = list(Cell.objects.filter(among("pk", map(uuid.UUID, ids))).values_list(*columns))
    series = _series({series_id for _, series_id, *_ in rows})
    return {
        pk: ShownCell(pk, series_id, connections, rate_rps, series[series_id])
        for pk, series_id, connections, rate_rps in rows
    }


def _series(ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, ShownSeries]:
    rows = Series.objects.filter(among("pk", ids)).values_list(*_SERIES)
    return {
        pk: ShownSeries(f"{name} {version or ''}".strip(), *others)
        for pk, name, version, *others in rows
    }
