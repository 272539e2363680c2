"""What an upload says of a run and its trials, kept where the rows say otherwise.

Rows differ from their upload by corrections, renamed and merged things. What was read is kept
beside them, so that each of these can be undone without reading the upload again.
"""

from collections.abc import Mapping
from typing import Any

from django.db.models import Func, QuerySet, TextField
from django.db.models.functions import Cast

from backend.runs.database.json_bytes import json_bytes
from backend.runs.database.portions import portions
from backend.runs.models import Run, Series, Trial
from backend.runs.recording.corrections import HOST_FIELDS_OF_RUN, as_text
from backend.runs.registry.registry import (
    host_identity,
    identity_fields,
    server_identity,
    workload_identity,
)

# Of what is read at a time.
BYTES_AT_ONCE = 8 << 20


def trial_as_read(read: Mapping[str, Any], series: Series) -> dict[str, Any] | None:
    """The identity fields of the server and the workload of `read` that the series does not have.

    None if it has all of them. Configurations that are as they were read are not kept again beside
    each trial: they take 20 KB each.
    """
    current = _parts_of(series)
    fields = {
        "server": server_identity(read["server"]),
        "workload": workload_identity(read["workload"]),
    }
    differing = {part: _differing(value, current[part]) for part, value in fields.items()}
    return {part: value for part, value in differing.items() if value} or None


def _differing(fields: Mapping[str, Any], current: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value != current[name]}


def read_trial(trial: Trial) -> dict[str, Any]:
    """What was read of the server and the workload of a recorded trial."""
    as_read: Mapping[str, Any] = trial.as_read or {}
    current = _parts_of(trial.cell.series)
    return {part: {**fields, **as_read.get(part, {})} for part, fields in current.items()}


def trials_sharing_as_read(rows: QuerySet[Trial]) -> list[Trial]:
    """The trials, of which those with equal `as_read` have one object of it.

    Thousands of trials of an upload have the same. The database tells which are
    equal, and each is read once, some bytes of them at a time.
    """
    trials = list(rows.defer("as_read").annotate(kind=_KIND, kind_bytes=json_bytes("as_read")))
    kinds = {trial.kind: trial for trial in trials if trial.kind is not None}
    sized = ((trial.pk, (trial.kind_bytes,)) for trial in kinds.values())
    shared: dict[str | None, dict[str, Any] | None] = {None: None}
    for some in portions(sized, (BYTES_AT_ONCE,)):
        shared.update(Trial.objects.filter(pk__in=some).values_list(_KIND, "as_read"))
    for trial in trials:
        trial.as_read = shared[trial.kind]
    return [*trials]


# Equal for trials of which the same was read.
_KIND = Func(
    Cast("as_read", TextField()),
    template="encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')",
    output_field=TextField(),
)


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
