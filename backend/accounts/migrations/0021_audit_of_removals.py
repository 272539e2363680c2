"""Erased accounts are copied beside the backups too (decision 0072): an index finds all removals."""

from django.db import migrations, models

from backend.migration_steps import AddIndexOnce, RemoveIndexOnce


class Migration(migrations.Migration):
    # The index is built while rows are written.
    atomic = False
    dependencies = [("accounts", "0020_takedowns")]

    operations = [
        AddIndexOnce(
            model_name="auditevent",
            index=models.Index(
                fields=["at"],
                condition=models.Q(act__in=["account.erased", "run.deleted", "workspace.deleted"]),
                name="audit_of_removals",
            ),
        ),
        RemoveIndexOnce(model_name="auditevent", name="audit_of_deletions"),
    ]
