"""What is newest is read from an index: by the time of measuring, no later than that of recording."""

from django.db import migrations, models
from django.db.models.functions import Coalesce, Least

from backend.migration_steps import AddIndexOnce, RemoveIndexOnce


class Migration(migrations.Migration):
    # The index is built while rows are written.
    atomic = False
    dependencies = [("runs", "0026_all_trials_count")]

    operations = [
        AddIndexOnce(
            model_name="run",
            index=models.Index(
                "workspace",
                Least(Coalesce("started_at", "recorded_at"), "recorded_at"),
                "id",
                name="run_by_happening",
            ),
        ),
        RemoveIndexOnce(model_name="run", name="run_by_start"),
    ]
