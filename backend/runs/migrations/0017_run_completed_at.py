"""When a run became complete: exports go on from there."""

from django.db import migrations, models
from django.db.models.functions import Now


def complete_when_recorded(apps, schema_editor):
    # All runs, those in the trash too. Cursors that were given before stay true.
    runs = apps.get_model("runs", "Run")._base_manager
    runs.update(completed_at=models.F("recorded_at"))


class Migration(migrations.Migration):
    dependencies = [("runs", "0016_cell_throughput")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="completed_at",
            field=models.DateTimeField(db_default=Now()),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["workspace", "completed_at"], name="run_by_completion"),
        ),
        migrations.RunPython(complete_when_recorded, migrations.RunPython.noop),
    ]
