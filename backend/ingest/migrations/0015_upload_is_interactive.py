"""Interactive uploads are read first. Those that wait now are read by age."""

from django.db import migrations, models

from backend.migration_steps import AddFieldOnce, AddIndexOnce


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("ingest", "0014_uploads_per_day")]

    operations = [
        AddFieldOnce(
            model_name="upload",
            name="is_interactive",
            field=models.BooleanField(db_default=False, default=False),
        ),
        AddIndexOnce(
            model_name="upload",
            index=models.Index(
                fields=["is_slow", "workspace", "received_at"],
                name="upload_interactive",
                condition=models.Q(("is_interactive", True), ("state", "received")),
            ),
        ),
    ]
