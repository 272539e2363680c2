"""The acts of one kind are read from an index, as the whole log of a workspace is."""

from django.db import migrations, models

from backend.migration_steps import AddIndexOnce


class Migration(migrations.Migration):
    # The index is built while rows are written.
    atomic = False
    dependencies = [("accounts", "0017_audit_of_deletions")]

    operations = [
        AddIndexOnce(
            model_name="auditevent",
            index=models.Index(fields=["workspace_id", "act", "-at", "-id"], name="audit_of_act"),
        ),
    ]
