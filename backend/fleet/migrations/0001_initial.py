import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0003_must_match"),
    ]

    operations = [
        migrations.CreateModel(
            name="Agent",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("host_name", models.CharField(max_length=200)),
                ("program", models.CharField(max_length=60)),
                ("version", models.CharField(max_length=40)),
                ("first_seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("token", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="agents", to="accounts.token")),
                ("workspace", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="agents", to="accounts.workspace")),
            ],
            options={
                "ordering": ["-last_seen_at"],
            },
        ),
        migrations.AddConstraint(
            model_name="agent",
            constraint=models.UniqueConstraint(fields=("token", "host_name"), name="agent_of_a_token"),
        ),
        migrations.CreateModel(
            name="Progress",
            fields=[
                ("run", models.UUIDField(primary_key=True, serialize=False)),
                ("state", models.CharField(choices=[("running", "Running"), ("finished", "Finished"), ("stopped", "Stopped"), ("interrupted", "Interrupted")], max_length=12)),
                ("trials_planned", models.PositiveIntegerField(null=True)),
                ("trials_done", models.PositiveIntegerField(default=0)),
                ("current", models.JSONField(null=True)),
                ("last", models.JSONField(null=True)),
                ("seconds_left", models.FloatField(null=True)),
                ("heard_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("silent_until", models.DateTimeField(default=django.utils.timezone.now)),
                ("agent", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="progress", to="fleet.agent")),
                ("workspace", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.workspace")),
            ],
            options={
                "ordering": ["-heard_at"],
            },
        ),
        migrations.AddIndex(
            model_name="progress",
            index=models.Index(fields=["workspace", "-heard_at"], name="progress_by_workspace"),
        ),
    ]
