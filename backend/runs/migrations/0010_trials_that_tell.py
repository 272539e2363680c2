"""Count of a cell only the trials that tell something, as recording does from now on."""

from django.db import migrations

from backend.migration_steps import batches_of_keys

COUNT = """
UPDATE runs_cell SET trial_count = (
    SELECT count(*) FROM runs_trial
    WHERE runs_trial.cell_id = runs_cell.id AND NOT warmup AND (
        throughput_rps IS NOT NULL OR error_rate IS NOT NULL
        OR jsonb_path_exists(percentiles_us, '$.* ? (@ != null)')
    )
) WHERE id = ANY(%s)
"""


def count(apps, schema_editor):
    for cells in batches_of_keys(apps.get_model("runs", "Cell")):
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(COUNT, [cells])


class Migration(migrations.Migration):
    # Each batch is committed by itself.
    atomic = False
    dependencies = [("runs", "0009_session")]

    operations = [migrations.RunPython(count, migrations.RunPython.noop)]
