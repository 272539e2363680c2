"""Agents that attack together."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_must_match"),
        ("fleet", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Session",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=100)),
                ("parts", models.PositiveSmallIntegerField()),
                ("plan_sha256", models.CharField(max_length=64)),
                ("seed", models.BigIntegerField()),
                ("step", models.PositiveIntegerField(null=True)),
                ("starts_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("workspace", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.workspace")),
            ],
        ),
        migrations.AddConstraint(
            model_name="session",
            constraint=models.UniqueConstraint(fields=("workspace", "name"), name="session_of_a_workspace"),
        ),
        migrations.CreateModel(
            name="Seat",
            fields=[
                ("run", models.UUIDField(primary_key=True, serialize=False)),
                ("host_name", models.CharField(max_length=200)),
                ("ready_for", models.PositiveIntegerField(null=True)),
                ("heard_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("session", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="seats", to="fleet.session")),
            ],
        ),
    ]
