"""What was seen on the server host of a run that was measured from elsewhere."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_must_match"),
        ("runs", "0007_open_run"),
    ]

    operations = [
        migrations.CreateModel(
            name="Observation",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("run", models.UUIDField(db_index=True)),
                ("host", models.JSONField(default=dict)),
                ("uncertainty_s", models.FloatField()),
                ("sample_count", models.PositiveIntegerField()),
                ("packed", models.BinaryField()),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("workspace", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.workspace")),
            ],
            options={
                "ordering": ["received_at"],
            },
        ),
    ]
