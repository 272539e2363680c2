"""When a run became complete: exports go on from there."""

from django.db import migrations, models
from django.db.models.functions import Now

from backend.migration_steps import AddFieldOnce, AddIndexOnce, batches_of_keys


def complete_when_recorded(apps, schema_editor):
    # All runs, those in the trash too. Cursors that were given before stay true.
    runs = apps.get_model("runs", "Run")
    for keys in batches_of_keys(runs):
        runs._base_manager.filter(pk__in=keys).update(completed_at=models.F("recorded_at"))


class Migration(migrations.Migration):
    # Each batch is committed by itself.
    atomic = False
    dependencies = [("runs", "0016_cell_throughput")]

    operations = [
        AddFieldOnce(
            model_name="run",
            name="completed_at",
            field=models.DateTimeField(db_default=Now()),
        ),
        migrations.RunPython(complete_when_recorded, migrations.RunPython.noop),
        AddIndexOnce(
            model_name="run",
            index=models.Index(fields=["workspace", "completed_at"], name="run_by_completion"),
        ),
    ]
