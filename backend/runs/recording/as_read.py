"""What an upload says of a run and its trials, kept where the rows say otherwise.

Rows differ from their upload by corrections, renamed and merged things. What was read is kept
beside them, so that each of these can be undone without reading the upload again.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from django.db.models import QuerySet

from backend.runs.models import Run, Series, Trial
from backend.runs.recording.corrections import HOST_FIELDS_OF_RUN, as_text
from backend.runs.registry.identity import canonical_json
from backend.runs.registry.registry import (
    host_identity,
    identity_fields,
    server_identity,
    workload_identity,
)

ROWS_AT_ONCE = 200


def trial_as_read(read: Mapping[str, Any], series: Series) -> dict[str, Any] | None:
    """The identity fields of the "server" and "workload" of `read` that the series does not have.

    None if it has both.
    """
    current = _parts_of(series)
    fields = {
        "server": server_identity(read["server"]),
        "workload": workload_identity(read["workload"]),
    }
    differing = {part: value for part, value in fields.items() if value != current[part]}
    return differing or None


def read_trial(trial: Trial) -> dict[str, Any]:
    """What was read of the server and the workload of a recorded trial."""
    as_read: Mapping[str, Any] = trial.as_read or {}
    return {**_parts_of(trial.cell.series), **as_read}


def trials_sharing_as_read(rows: QuerySet[Trial]) -> list[Trial]:
    """The trials, of which those with equal `as_read` have one object of it.

    Thousands of trials of an upload have the same, of up to 40 KB. Few rows are read at a time.
    """
    shared: dict[bytes, dict[str, Any]] = {}
    trials = []
    for trial in rows.iterator(chunk_size=ROWS_AT_ONCE):
        if trial.as_read is not None:
            digest = sha256(canonical_json(trial.as_read)).digest()
            trial.as_read = shared.setdefault(digest, trial.as_read)
        trials.append(trial)
    return trials


def _parts_of(series: Series) -> dict[str, Any]:
    return {
        "server": identity_fields(series.server),
        "workload": identity_fields(series.workload),
    }


def run_as_read(read: Mapping[str, Any], run: Run) -> dict[str, Any] | None:
    """The members of `read` (as `corrections.correct_run` takes them) that the run does not have.

    None if it has all of them.
    """
    current = _current(run)
    as_identity = {**read, **{str(role): _host_fields(read[role]) for role in HOST_FIELDS_OF_RUN}}
    differing = {name: value for name, value in as_identity.items() if value != current[name]}
    return differing or None


def read_run(run: Run) -> dict[str, Any]:
    """What was read of a recorded run, as `corrections.correct_run` takes it."""
    as_read: Mapping[str, Any] = run.as_read or {}
    return {**_current(run), **as_read}


def _current(run: Run) -> dict[str, Any]:
    return {
        "server_host": run.server_host and identity_fields(run.server_host),
        "client_host": run.client_host and identity_fields(run.client_host),
        "started_at": as_text(run.started_at),
        "finished_at": as_text(run.finished_at),
        "labels": run.labels,
        "notes": run.notes,
    }


def _host_fields(read: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return host_identity(read) if read else None
