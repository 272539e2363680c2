"""Count of a cell only the trials that tell something, as recording does from now on."""

from django.db import migrations

COUNT = """
UPDATE runs_cell SET trial_count = (
    SELECT count(*) FROM runs_trial
    WHERE runs_trial.cell_id = runs_cell.id AND NOT warmup AND (
        throughput_rps IS NOT NULL OR error_rate IS NOT NULL
        OR jsonb_path_exists(percentiles_us, '$.* ? (@ != null)')
    )
)
"""


class Migration(migrations.Migration):
    dependencies = [("runs", "0009_session")]

    operations = [migrations.RunSQL(COUNT, migrations.RunSQL.noop)]
