"""Recording many new runs of one workspace with few statements: small uploads come by the hundred.

Servers, workloads and series are looked up once for all of them, and each kind of row is written
with one COPY. What is written is what `record_run` writes of each run alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from uuid import UUID

from django.db import connection, transaction

from backend.accounts.models import Workspace
from backend.errors import Conflict
from backend.runs.as_read import trial_as_read
from backend.runs.bulk import copy_rows
from backend.runs.cells import give_totals
from backend.runs.measured import TrialRecord, load_point
from backend.runs.models import Cell, Run, Trial, TrialTimeline
from backend.runs.record import RunInput, Writer, run_row, series_of
from backend.runs.registry import lock_names


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
    writers = [Writer(run_row(new_run.run_input, ()), {}) for new_run in new_runs]
    _gather(writers, new_runs)
    copy_rows(Run, [writer.run for writer in writers])
    copy_rows(Cell, chain.from_iterable(writer.cells.values() for writer in writers))
    copy_rows(Trial, chain.from_iterable(writer.trials for writer in writers))
    copy_rows(TrialTimeline, chain.from_iterable(writer.timelines for writer in writers))
    # Last: the row of the workspace stays locked until the transaction ends.
    workspace.changed()
    return [writer.trials for writer in writers]


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


def _gather(writers: Sequence[Writer], new_runs: Sequence[NewRun]) -> None:
    of_records = [
        (writer, record, load_point(record))
        for writer, new_run in zip(writers, new_runs, strict=True)
        for record in new_run.records
    ]
    all_series = series_of(
        [writer.run for writer, _, _ in of_records],
        [record for _, record, _ in of_records],
        [point for _, _, point in of_records],
    )
    for (writer, record, point), series in zip(of_records, all_series, strict=True):
        as_read = trial_as_read({"server": record.server, "workload": record.workload}, series)
        writer.add(record, point, series, as_read)
    for writer in writers:
        writer.merge_cells()
        give_totals(writer.run, writer.cells.values(), writer.trials)
