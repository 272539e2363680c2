"""Which bytes a trial was read from, so that one output counts once.

Trials of before get it when their uploads are read again.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0010_trials_that_tell")]

    operations = [
        migrations.AddField(
            model_name="trial",
            name="output_sha256",
            field=models.BinaryField(editable=False, max_length=32, null=True),
        ),
        migrations.AddIndex(
            model_name="trial",
            index=models.Index(fields=["output_sha256"], name="trial_by_output"),
        ),
    ]
