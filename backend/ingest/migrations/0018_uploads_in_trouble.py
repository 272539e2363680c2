"""Uploads that failed, or were read in part, are read from an index."""

from django.db import migrations, models

from backend.migration_steps import AddIndexOnce


class Migration(migrations.Migration):
    # The index is built while rows are written.
    atomic = False
    dependencies = [("ingest", "0017_faults_are_counted")]

    operations = [
        AddIndexOnce(
            model_name="upload",
            index=models.Index(
                fields=["workspace", "-received_at"],
                condition=models.Q(
                    ("state__in", ["failed", "quarantined"]),
                    ("reason__gt", ""),
                    _connector="OR",
                ),
                name="upload_in_trouble",
            ),
        ),
    ]
