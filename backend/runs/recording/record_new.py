"""Recording many new runs of one workspace with few statements: small uploads come by the hundred.

Servers, workloads and series are looked up once for all of them. The code that writes is that of
`record_run`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction

from backend.accounts.models import Workspace
from backend.errors import Conflict
from backend.runs.measured.measured import TrialRecord
from backend.runs.models import Trial
from backend.runs.recording.record import RunInput, run_row, write_new
from backend.runs.registry.registry import lock_names


class NotNew(Conflict):
    """One of the runs is stored already, or was corrected before; nothing was written."""


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run that is not stored yet, with its trials as they were read."""

    run_input: RunInput
    records: Sequence[TrialRecord]


@transaction.atomic
def record_new_runs(workspace: Workspace, new_runs: Sequence[NewRun]) -> list[list[Trial]]:
    """Write the runs with their trials and cells; the trials of each run, in the order of records.

    Raises NotNew.
    """
    lock_names(workspace)
    _check_new([new_run.run_input.id for new_run in new_runs])
    runs = [run_row(new_run.run_input, ()) for new_run in new_runs]
    return write_new(runs, [new_run.records for new_run in new_runs])


def _check_new(run_ids: Sequence[UUID]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT EXISTS (SELECT FROM runs_run WHERE id = ANY(%s))
                OR EXISTS (SELECT FROM runs_correction WHERE run_id = ANY(%s))
            """,
            [list(run_ids)] * 2,
        )
        (is_known,) = cursor.fetchone()
    if is_known:
        raise NotNew("A run with this id is stored already.")
