"""The alerts of one state are read from an index."""

from django.db import migrations, models

from backend.migration_steps import AddIndexOnce


class Migration(migrations.Migration):
    # The index is built while rows are written.
    atomic = False
    dependencies = [("alerts", "0001_initial")]

    operations = [
        AddIndexOnce(
            model_name="alert",
            index=models.Index(fields=["workspace", "state", "-seen_at"], name="alert_by_state"),
        ),
    ]
