"""Small uploads: read together, with their bytes in rows. Those stored before stay as they are."""

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ingest", "0011_upload_in_trash")]

    operations = [
        migrations.AddField(
            model_name="upload",
            name="is_small",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.CreateModel(
            name="SmallContent",
            fields=[
                ("sha256", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("content", models.BinaryField()),
                ("size_bytes", models.PositiveIntegerField()),
                ("stored_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
    ]
