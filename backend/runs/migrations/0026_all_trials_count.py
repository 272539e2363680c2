"""The throughput of load points and runs, now of all their trials (decision 0074).

Before, trials that lay far from the others of their run did not count.
"""

from importlib import import_module
from typing import Any

from django.db import migrations, transaction

from backend.migration_steps import batches_of_keys
from backend.stats.replicates import centre_of_run

rates_of_cells = import_module("backend.runs.migrations.0016_cell_throughput").rates_of_cells

RUNS_AT_ONCE = 200
# Of fewer trials, each counted before.
FEWEST_TRIALS = 6
# Whoever writes trials of a run has locked it, or waits here.
LOCK = "SELECT FROM runs_run WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
WRITE = """
UPDATE runs_cell SET throughput_rps = computed.rate
FROM unnest(%s::uuid[], %s::float8[]) AS computed (id, rate)
WHERE runs_cell.id = computed.id AND throughput_rps IS DISTINCT FROM computed.rate
"""
WRITE_BEST = """
UPDATE runs_run SET best_rps = best.rps
FROM (
    SELECT run_id, max(throughput_rps) AS rps FROM runs_cell WHERE run_id = ANY(%s) GROUP BY run_id
) AS best
WHERE id = best.run_id AND best_rps IS DISTINCT FROM best.rps
"""


def compute_throughputs(apps: Any, schema_editor: Any) -> None:
    """Of the runs that are there, in batches."""
    cells = apps.get_model("runs", "cell").objects
    connection = schema_editor.connection
    for runs in batches_of_keys(apps.get_model("runs", "run"), RUNS_AT_ONCE):
        with transaction.atomic(connection.alias), connection.cursor() as cursor:
            cursor.execute(LOCK, [runs])
            many = cells.filter(run__in=runs, trial_count__gte=FEWEST_TRIALS)
            rates = rates_of_cells(apps, list(many.values_list("pk", flat=True)))
            centres = {cell: centre_of_run(own) for cell, own in rates.items()}
            cursor.execute(WRITE, [list(centres), list(centres.values())])
            cursor.execute(WRITE_BEST, [runs])


class Migration(migrations.Migration):
    # Each batch is committed by itself.
    atomic = False
    dependencies = [("runs", "0025_cell_of_series")]

    operations = [migrations.RunPython(compute_throughputs, migrations.RunPython.noop)]
