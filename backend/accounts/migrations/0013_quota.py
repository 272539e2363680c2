"""Limits of one workspace in place of those of the service."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0012_raw_kept_days")]

    operations = [
        migrations.CreateModel(
            name="Quota",
            fields=[
                (
                    "workspace",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="quota",
                        serialize=False,
                        to="accounts.workspace",
                    ),
                ),
                ("uploads_per_day", models.PositiveBigIntegerField(null=True)),
                ("stored_bytes", models.PositiveBigIntegerField(null=True)),
                ("members", models.PositiveBigIntegerField(null=True)),
                ("reads", models.PositiveBigIntegerField(null=True)),
            ],
        ),
    ]
