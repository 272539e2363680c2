"""The noise of hosts, and the A/A comparisons it is estimated from."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("runs", "0010_trials_that_tell"),
    ]

    operations = [
        migrations.CreateModel(
            name="HostNoise",
            fields=[
                (
                    "host",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="noise",
                        serialize=False,
                        to="runs.host",
                    ),
                ),
                ("floor_share", models.FloatField(null=True)),
                ("comparisons", models.PositiveIntegerField(default=0)),
                ("latest", models.DateTimeField(null=True)),
                ("run_sd", models.FloatField(null=True)),
                ("run_freedom", models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="SelfComparison",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("connections", models.PositiveIntegerField(null=True)),
                ("difference", models.FloatField()),
                ("trials_a", models.PositiveIntegerField()),
                ("trials_b", models.PositiveIntegerField()),
                ("start_group", models.PositiveIntegerField()),
                ("measured_at", models.DateTimeField()),
                (
                    "host",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="self_comparisons",
                        to="runs.host",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="self_comparisons",
                        to="runs.run",
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="runs.series",
                    ),
                ),
            ],
            options={
                "ordering": ["-measured_at", "pk"],
                "indexes": [
                    models.Index(fields=["host", "-measured_at"], name="self_comparison_by_host")
                ],
            },
        ),
    ]
