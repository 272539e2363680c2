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

from django.db.models import Func, QuerySet, TextField
from django.db.models.functions import Cast
from msgspec import Struct, json

from backend.runs.among import among
from backend.runs.models import Cell, Trial


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
    p50_us: float | None
    p99_us: float | None
    errors: Mapping[str, Any]
    checks: Sequence[dict[str, str]]
    resources: Mapping[str, Any]
    load: Mapping[str, Any]
    # As a shell reads it.
    command: str


def _percentile(name: str) -> Func:
    """Of the stored percentiles, these alone are shown: the others are most of a trial's JSON."""
    template = f"(%(expressions)s -> '{name}')::text"
    return Func("percentiles_us", template=template, output_field=TextField())


_JSON = ("errors", "checks", "resources", "load", "command")
_TEXTS = (_percentile("50"), _percentile("99"), *(Cast(name, TextField()) for name in _JSON))
_PLAIN = ShownTrial.__struct_fields__[3 : -len(_TEXTS)]
_SERIES = (
    *("series__server__name", "series__server__version", "series__server__slot"),
    *("series__workload__name", "series__tool", "series__tool_version", "series__loop"),
)


def read_shown_trials(trials: QuerySet[Trial]) -> list[ShownTrial]:
    """The trials in order."""
    pk, cell = (Cast(name, TextField()) for name in ("pk", "cell"))
    rows = list(trials.order_by("ordinal").values_list(pk, "run_id", cell, *_PLAIN, *_TEXTS))
    cells = _cells({cell_id for _, _, cell_id, *_ in rows})
    values = _Remembered(lambda value: value)
    commands = _Remembered(lambda command: shlex.join(map(str, command)))
    json_at = -len(_TEXTS)
    return [
        ShownTrial(
            *(pk, run_id, cells[cell_id], *rest[:json_at]),
            *(*map(values.__getitem__, rest[json_at:-1]), commands[rest[-1]]),
        )
        for pk, run_id, cell_id, *rest in rows
    ]


class _Remembered(dict[str | None, Any]):
    """By text of JSON, what `read` makes of its value: the trials of a run have many in common.
    By None, None.

    Equal texts give one object, which nobody may change.
    """

    def __init__(self, read: Callable[[Any], Any]) -> None:
        super().__init__({None: None})
        self._read = read

    def __missing__(self, text: str) -> Any:
        self[text] = self._read(json.decode(text))
        return self[text]


def _cells(ids: Iterable[str]) -> dict[str, ShownCell]:
    columns = (Cast("pk", TextField()), "connections", "rate_rps", "series_id", *_SERIES)
    rows = Cell.objects.filter(among("pk", map(uuid.UUID, ids))).values_list(*columns)
    return {
        pk: ShownCell(
            pk,
            series_id,
            connections,
            rate_rps,
            ShownSeries(f"{name} {version or ''}".strip(), *others),
        )
        for pk, connections, rate_rps, series_id, name, version, *others in rows
    }
