"""The totals of runs, where a whole workspace is loaded: counted once, at the end.

Else the database counts the trials of a run after each statement that adds some (migration 0022).
An archive has its trials in no order, so each statement would write hundreds of runs again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import connection

_LATER = "SELECT set_config('loadsheet.totals_later', %s, true)"
_COUNT = """
UPDATE runs_run SET
    counted_trials = (SELECT count(*) FROM runs_trial WHERE run_id = runs_run.id AND NOT warmup),
    best_rps = (SELECT max(throughput_rps) FROM runs_cell WHERE run_id = runs_run.id)
WHERE workspace_id = %s
"""


@contextmanager
def totals_at_the_end(workspace_id: UUID) -> Iterator[None]:
    """Inside, trials and load points of this workspace alone are written. In a transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_LATER, ["on"])
        yield
        cursor.execute(_LATER, ["off"])
        cursor.execute(_COUNT, [workspace_id])
