"""Attempts and failed attempts of each trial, of which its error rate is made.

For trials recorded before, both are computed from the counts of the trial. What the output says
beyond that is stored when its upload is read again.
"""

from django.db import migrations, models

from backend.migration_steps import AddFieldOnce, batches_of_keys

# `bad` are the completed requests that failed, `lost` the attempts without an answer. Where a late
# answer counts as both, `bad` has it beside those with a bad status.
FILL = """
UPDATE runs_trial SET attempts = requests_completed + outside, failed = bad + outside
FROM (
    SELECT id AS trial_id, bad, greatest(lost - greatest(bad - status, 0), 0) AS outside
    FROM (
        SELECT id,
            greatest(requests_completed - requests_ok, 0) AS bad,
            coalesce((errors ->> 'status')::bigint, 0) AS status,
            coalesce((errors ->> 'connect')::bigint, 0) + coalesce((errors ->> 'read')::bigint, 0)
            + coalesce((errors ->> 'write')::bigint, 0)
            + coalesce((errors ->> 'timeout')::bigint, 0)
            + coalesce((errors ->> 'other')::bigint, 0) AS lost
        FROM runs_trial
        WHERE id = ANY(%s) AND attempts IS NULL AND error_rate IS NOT NULL
            AND requests_completed IS NOT NULL AND requests_ok IS NOT NULL
    ) AS classes
) AS counts
WHERE id = trial_id
"""


def fill(apps, schema_editor):
    for trials in batches_of_keys(apps.get_model("runs", "Trial")):
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(FILL, [trials])


class Migration(migrations.Migration):
    # Each batch is committed by itself.
    atomic = False
    dependencies = [("runs", "0028_session_members")]

    operations = [
        AddFieldOnce(
            model_name="trial", name="attempts", field=models.BigIntegerField(null=True)
        ),
        AddFieldOnce(model_name="trial", name="failed", field=models.BigIntegerField(null=True)),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
