"""The trials of a run as they are shown, read as plain rows.

A run has hundreds of trials: to make an object of the models for each, with its cell, takes longer
than everything else that an answer about the run needs.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from msgspec import Struct

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

    pk: uuid.UUID
    series_id: uuid.UUID
    connections: int | None
    rate_rps: float | None
    series: ShownSeries


# In the order in which its columns are read: first plain ones, then those of JSON.
class ShownTrial(Struct, frozen=True, gc=False):
    """A trial with the attributes that `Trial` has, as far as they are shown."""

    pk: uuid.UUID
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
    command: Sequence[Any]


_JSON = ("percentiles_us", "errors", "checks", "resources", "load", "command")
_PLAIN = tuple(name for name in ShownTrial.__struct_fields__ if name not in _JSON)
_SERIES = (
    *("pk", "server__name", "server__version", "server__slot", "workload__name"),
    *("tool", "tool_version", "loop"),
)


def read_shown_trials(trials: QuerySet[Trial]) -> list[ShownTrial]:
    """The trials in order."""
    texts = (Cast(name, TextField()) for name in _JSON)
    rows = list(trials.order_by("ordinal").values_list(*_PLAIN, *texts))
    cells = _cells({cell_id for _, _, cell_id, *_ in rows})
    parse = _remembering_parser()
    first_json = -len(_JSON)
    return [
        ShownTrial(pk, run_id, cells[cell_id], *rest[:first_json], *map(parse, rest[first_json:]))
        for pk, run_id, cell_id, *rest in rows
    ]


def _remembering_parser() -> Callable[[str], Any]:
    """A parser of JSON that reads each text once: the trials of a run have many in common.

    Equal texts give one value, which nobody may change.
    """
    values: dict[str, Any] = {}

    def parse(text: str) -> Any:
        if text not in values:
            values[text] = json.loads(text)
        return values[text]

    return parse


def _cells(ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, ShownCell]:
    columns = ("pk", "series_id", "connections", "rate_rps")
    rows = list(Cell.objects.filter(pk__in=ids).values_list(*columns))
    series = _series({series_id for _, series_id, *_ in rows})
    return {
        pk: ShownCell(pk, series_id, connections, rate_rps, series[series_id])
        for pk, series_id, connections, rate_rps in rows
    }


def _series(ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, ShownSeries]:
    rows = Series.objects.filter(pk__in=ids).values_list(*_SERIES)
    return {
        pk: ShownSeries(f"{name} {version or ''}".strip(), *others)
        for pk, name, version, *others in rows
    }
