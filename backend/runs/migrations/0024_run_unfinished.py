"""Runs that are measured now, or were interrupted, are read from an index."""

from django.db import migrations, models

from backend.migration_steps import AddIndexOnce


class Migration(migrations.Migration):
    # The index is built while rows are written.
    atomic = False
    dependencies = [("runs", "0023_observation_span")]

    operations = [
        AddIndexOnce(
            model_name="run",
            index=models.Index(
                fields=["workspace", "-recorded_at"],
                condition=models.Q(("is_open", True), ("interrupted", True), _connector="OR"),
                name="run_unfinished",
            ),
        ),
    ]
