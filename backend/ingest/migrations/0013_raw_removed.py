"""When the raw output of an upload was removed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ingest", "0012_small_uploads")]

    operations = [
        migrations.AddField(
            model_name="upload",
            name="raw_removed_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="upload",
            name="raw_kept_days",
            field=models.PositiveIntegerField(null=True),
        ),
    ]
