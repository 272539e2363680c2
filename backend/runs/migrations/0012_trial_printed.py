"""What an output says of how its trial was measured, beside what was declared.

Of trials of before, keep-alive and threads are taken from what was read; the rest comes when their
uploads are read again.
"""

from django.db import migrations, models

from backend.migration_steps import AddFieldOnce, batches_of_keys

FILL = """
UPDATE runs_trial SET printed = jsonb_strip_nulls(
    jsonb_build_object('keepalive', parsed->'keepalive', 'threads', parsed->'threads')
) WHERE id = ANY(%s) AND printed = '{}'
    AND (parsed->>'keepalive' IS NOT NULL OR parsed->>'threads' IS NOT NULL)
"""


def fill(apps, schema_editor):
    for trials in batches_of_keys(apps.get_model("runs", "Trial")):
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(FILL, [trials])


class Migration(migrations.Migration):
    # Each batch is committed by itself.
    atomic = False
    dependencies = [("runs", "0011_trial_output_sha256")]

    operations = [
        AddFieldOnce(model_name="trial", name="printed", field=models.JSONField(default=dict)),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
