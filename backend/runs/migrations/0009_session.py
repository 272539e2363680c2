"""Runs of several agents that attacked together."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0008_observation"),
    ]

    operations = [
        migrations.AddField("run", "session", models.JSONField(default=dict)),
        migrations.AddIndex(
            "run",
            models.Index(
                fields=["workspace", "started_at"],
                condition=~models.Q(session={}),
                name="run_of_session",
            ),
        ),
    ]
