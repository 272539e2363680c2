"""The throughput of each cell, which lists of runs show and sort by."""

from collections import defaultdict

from django.db import migrations, models

from backend.migration_steps import AddFieldOnce, batches_of_keys
from backend.stats.replicates import centre_of_run

CELLS_AT_ONCE = 1000
# What a trial that is recorded meanwhile made of its cell stays.
_WRITE = """
UPDATE runs_cell SET throughput_rps = computed.rate
FROM unnest(%s::uuid[], %s::float8[]) AS computed (id, rate)
WHERE runs_cell.id = computed.id AND throughput_rps IS NULL
"""


def compute_throughputs(apps, schema_editor):
    for cells in batches_of_keys(apps.get_model("runs", "Cell"), CELLS_AT_ONCE):
        rates = rates_of_cells(apps, cells)
        centres = {cell: centre_of_run(own) for cell, own in rates.items()}
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(_WRITE, [list(centres), list(centres.values())])


def rates_of_cells(apps, cells):
    """By cell, the throughput of each trial that counts: one output counts once."""
    trials = apps.get_model("runs", "Trial").objects.filter(cell__in=cells, warmup=False)
    columns = ("cell", "output_sha256", "throughput_rps")
    rates, outputs = defaultdict(list), set()
    for cell, output, rate in trials.order_by("cell", "ordinal").values_list(*columns):
        measured = None if output is None else (cell, bytes(output))
        if rate is not None and measured not in outputs:
            rates[cell].append(rate)
        if measured is not None:
            outputs.add(measured)
    return rates


class Migration(migrations.Migration):
    # Each batch is committed by itself.
    atomic = False
    dependencies = [("runs", "0015_trash")]

    operations = [
        AddFieldOnce(
            model_name="cell",
            name="throughput_rps",
            field=models.FloatField(null=True),
        ),
        migrations.RunPython(compute_throughputs, migrations.RunPython.noop),
    ]
