"""How much the configurations of a run may take: its pages and what computes it again hold all."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from backend.runs.database.json_bytes import json_bytes
from backend.runs.measured.measured import TrialRecord
from backend.runs.models import Cell, Run, Server, Workload
from backend.runs.recording.refusals import ConfigurationsTooLarge
from backend.runs.registry.identity import canonical_json
from backend.runs.tables.names import MAX_CONFIGURATION_BYTES, MAX_CONFIGURATIONS

# Of each part of a series, what is as long as its sender likes.
_COLUMNS = {"server": "configuration", "workload": "headers"}
_MODELS: Mapping[str, type[Server | Workload]] = {"server": Server, "workload": Workload}
# The configurations of so few cells are below both limits.
FEW_CELLS = 100


def refuse_many_read(records: Sequence[TrialRecord]) -> None:
    """Call it with what was read of a run, before the rows are made. Raises
    ConfigurationsTooLarge.

    The configuration that an envelope has for all its results is that of each server in them.
    """
    for part, column in _COLUMNS.items() if len(records) > FEW_CELLS else ():
        encoded: dict[int, tuple[bytes, int]] = {}
        kinds: dict[tuple[object, ...], int] = {}
        for record in records:
            fields: Mapping[str, Any] = getattr(record, part)
            large = fields.get(column) or {}
            if id(large) not in encoded:
                text = canonical_json(large)
                encoded[id(large)] = sha256(text).digest(), len(text)
            digest, size = encoded[id(large)]
            named = sorted((name, str(fields[name])) for name in fields.keys() - {column})
            kinds[(digest, *named)] = size
        _refuse(kinds.values())


def _refuse(sizes: Collection[int]) -> None:
    if len(sizes) > MAX_CONFIGURATIONS or sum(sizes) > MAX_CONFIGURATION_BYTES:
        raise ConfigurationsTooLarge


def refuse_many_configurations(run: Run) -> None:
    """Call it in the transaction that wrote cells of the run. Raises ConfigurationsTooLarge."""
    cells = Cell.objects.filter(run=run.pk).order_by()
    if not cells[FEW_CELLS : FEW_CELLS + 1].exists():
        return
    for part in _COLUMNS:
        _refuse(_sizes(part, cells.values(f"series__{part}")).values())


def configuration_bytes_together(cells: QuerySet[Cell]) -> int:
    """Bytes of all configurations and headers that these cells were measured with."""
    parts = (_sizes(part, cells.order_by().values(f"series__{part}")) for part in _COLUMNS)
    return sum(sum(sizes.values()) for sizes in parts)


def configuration_bytes(run_ids: Collection[UUID]) -> Counter[UUID]:
    """Bytes of the configurations and headers of each run, each counted once in a run."""
    cells = Cell.objects.filter(run__in=run_ids).order_by()
    of_runs = Counter[UUID]()
    for part in _COLUMNS:
        path = f"series__{part}"
        sizes = _sizes(part, cells.values(path))
        for run_id, row_id in cells.values_list("run", path).distinct().iterator():
            of_runs[run_id] += sizes[row_id]
    return of_runs


def _sizes(part: str, ids: QuerySet[Any]) -> dict[UUID, int]:
    """Bytes of the configuration or headers of each of these rows: once a row, not once a cell."""
    rows = _MODELS[part]._default_manager.filter(pk__in=ids)
    return {pk: size or 0 for pk, size in rows.values_list("pk", json_bytes(_COLUMNS[part]))}
