"""The trials of a run as they are shown, read as plain rows.

A run has hundreds of trials: to make an object of the models for each, with its cell, takes longer
than everything else that an answer about the run needs. To compose the statements takes as long as
to answer them, so they stand here.
"""

import shlex
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct, json

from backend.analysis.grouping.fired_checks import describe_check, find_check
from backend.runs.database.read_router import reading_connection


class ShownCell(Struct, frozen=True, gc=False):
    """A load point, and what was measured at it."""

    pk: str
    # Name and version.
    server: str
    slot: int
    workload: str
    tool: str
    tool_version: str | None
    loop: str
    connections: int | None
    rate_rps: float | None


# In the order in which its columns are read: first ids and plain ones, then those of JSON. The ids
# are text: to make UUIDs, to look them up and to write them takes ten times as long.
class ShownTrial(Struct, frozen=True, gc=False):
    """A trial with the attributes that `Trial` has, as far as they are shown."""

    pk: str
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
    exit_code: int | None
    incomplete: bool
    error: str
    p50_us: float | None
    p99_us: float | None
    errors: Mapping[str, Any]
    load: Mapping[str, Any]
    # As answers have them.
    checks: list[dict[str, Any]]


# Of the stored percentiles, two are shown: the others are most of a trial's JSON.
_TRIALS = """
SELECT id::text, cell_id::text, ordinal, repeat, warmup, phase, started_at, elapsed_s,
    throughput_rps, requests_completed, reported_rps, latency_resolution_us, percentiles_origin,
    error_rate, exit_code, incomplete, error,
    percentiles_us -> '50', percentiles_us -> '99', errors, load, checks
FROM runs_trial
WHERE {}
ORDER BY ordinal
"""
# What may have megabytes, of the trials that are listed alone.
_DETAILS = "SELECT id::text, {} FROM runs_trial WHERE id = ANY(%s::uuid[])"
DETAILS = ("command", "resources")
# Readers of a shared run do not get what the server printed.
ALL_DETAILS = (*DETAILS, "server_tail")
_CELLS = """
SELECT cell.id::text, server.name, server.version, server.slot, workload.name,
    series.tool, series.tool_version, series.loop, cell.connections, cell.rate_rps
FROM runs_cell cell
JOIN runs_series series ON series.id = cell.series_id
JOIN runs_server server ON server.id = series.server_id
JOIN runs_workload workload ON workload.id = series.workload_id
WHERE {}
"""


def read_trials_of_run(run_id: uuid.UUID) -> list[ShownTrial]:
    """The trials of the run in order."""
    return _read("run_id = %s", "cell.run_id = %s", run_id)


def read_trial(trial_id: uuid.UUID) -> ShownTrial:
    of_trial = "cell.id = (SELECT cell_id FROM runs_trial WHERE id = %s)"
    (trial,) = _read("id = %s", of_trial, trial_id)
    return trial


def _read(which_trials: str, which_cells: str, id_: uuid.UUID) -> list[ShownTrial]:
    with reading_connection().cursor() as cursor:
        cursor.execute(_CELLS.format(which_cells), [id_])
        cells = {
            pk: ShownCell(pk, f"{name} {version or ''}".strip(), *others)
            for pk, name, version, *others in cursor.fetchall()
        }
        cursor.execute(_TRIALS.format(which_trials), [id_])
        rows = cursor.fetchall()
    values = _Remembered(lambda value: value)
    checks = _Remembered(lambda stored: [*map(describe_finding, stored)])
    shown: list[list[Any]] = [
        [pk, cells[cell_id], *plain[:-4], *map(values.__getitem__, plain[-4:]), checks[found]]
        for pk, cell_id, *plain, found in rows
    ]
    return [ShownTrial(*columns) for columns in shown]


def give_details(trials: Sequence[dict[str, Any]], names: Sequence[str] = DETAILS) -> None:
    """Complete these trials, as `describe_run` has them, by the details of these names.

    A trial that was deleted meanwhile has empty ones.
    """
    readers: dict[str, Callable[[str], Any]] = {
        # As a shell reads it.
        "command": _Remembered(lambda words: shlex.join(map(str, words))).__getitem__,
        "resources": _Remembered(lambda value: value).__getitem__,
        "server_tail": str,
    }
    with reading_connection().cursor() as cursor:
        ids = [trial["id"] for trial in trials]
        cursor.execute(_DETAILS.format(", ".join(names)), [ids])
        found = {pk: values for pk, *values in cursor.fetchall()}
    empty = {"command": "[]", "resources": "{}", "server_tail": ""}
    for trial in trials:
        values = found.get(trial["id"]) or [empty[name] for name in names]
        trial.update(
            {name: readers[name](value) for name, value in zip(names, values, strict=True)}
        )


def describe_finding(stored: Mapping[str, str]) -> dict[str, Any]:
    """What a check found, with what the check is."""
    return {**describe_check(find_check(stored["id"])), "detail": stored.get("detail", "")}


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
