"""What an output says of how its trial was measured, beside what was declared.

Of trials of before, keep-alive and threads are taken from what was read; the rest comes when their
uploads are read again.
"""

from django.db import migrations, models

FILL = """
UPDATE runs_trial SET printed = jsonb_strip_nulls(
    jsonb_build_object('keepalive', parsed->'keepalive', 'threads', parsed->'threads')
) WHERE parsed->>'keepalive' IS NOT NULL OR parsed->>'threads' IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [("runs", "0011_trial_output_sha256")]

    operations = [
        migrations.AddField(
            model_name="trial", name="printed", field=models.JSONField(default=dict)
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
