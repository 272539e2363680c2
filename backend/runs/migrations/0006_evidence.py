"""What agents send of a run and its trials beside figures; bodies join a workload's identity."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0005_former_name"),
    ]

    operations = [
        migrations.AddField("workload", "body_bytes", models.BigIntegerField(null=True)),
        migrations.AddField("workload", "body_sha256", models.CharField(max_length=64, null=True)),
        migrations.AddField("run", "agent", models.JSONField(default=dict)),
        migrations.AddField("run", "seed", models.BigIntegerField(null=True)),
        migrations.AddField("run", "stopped", models.TextField(default="")),
        migrations.AddField("run", "events", models.JSONField(default=list)),
        migrations.AddField("run", "max_rates", models.JSONField(default=list)),
        migrations.AddField("run", "server_tails", models.JSONField(default=dict)),
        migrations.AddField("trial", "load", models.JSONField(default=dict)),
        migrations.AddField("trial", "phase", models.CharField(max_length=10, null=True)),
        migrations.AddField("trial", "glance", models.JSONField(default=dict)),
        migrations.AddField("trial", "server_tail", models.TextField(default="")),
    ]
