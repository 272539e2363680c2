"""Runs that come in parts while they go on."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0006_evidence"),
    ]

    operations = [
        migrations.AddField("run", "trials_planned", models.PositiveIntegerField(null=True)),
        migrations.AddField("run", "is_open", models.BooleanField(default=False)),
    ]
