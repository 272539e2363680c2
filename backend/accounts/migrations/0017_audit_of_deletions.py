"""Deletions are copied beside the backups once a minute (decision 0058): an index finds them."""

from django.db import migrations, models

from backend.migration_steps import AddIndexOnce


class Migration(migrations.Migration):
    # The index is built while rows are written.
    atomic = False
    dependencies = [("accounts", "0016_pepper_of_links")]

    operations = [
        AddIndexOnce(
            model_name="auditevent",
            index=models.Index(
                fields=["at"],
                condition=models.Q(act__in=["run.deleted", "workspace.deleted"]),
                name="audit_of_deletions",
            ),
        ),
    ]
