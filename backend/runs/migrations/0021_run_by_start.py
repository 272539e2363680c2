"""Runs of some days are read from an index, as are runs in the order of their start."""

from django.db import migrations, models
from django.db.models.functions import Coalesce

from backend.migration_steps import AddIndexOnce


class Migration(migrations.Migration):
    # The index is built while rows are written.
    atomic = False
    dependencies = [("runs", "0020_text_indexes")]

    operations = [
        AddIndexOnce(
            model_name="run",
            index=models.Index(
                "workspace", Coalesce("started_at", "recorded_at"), "id", name="run_by_start"
            ),
        ),
    ]
