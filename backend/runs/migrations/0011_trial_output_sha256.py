"""Which bytes a trial was read from, so that one output counts once.

Trials of before get it when their uploads are read again.
"""

from django.db import migrations, models

from backend.migration_steps import AddFieldOnce, AddIndexOnce


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("runs", "0010_trials_that_tell")]

    operations = [
        AddFieldOnce(
            model_name="trial",
            name="output_sha256",
            field=models.BinaryField(editable=False, max_length=32, null=True),
        ),
        AddIndexOnce(
            model_name="trial",
            index=models.Index(fields=["output_sha256"], name="trial_by_output"),
        ),
    ]
