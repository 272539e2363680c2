"""Series become rows, so that choosing and counting them reads no cell."""

import uuid

import django.db.models.deletion
from django.db import migrations, models

FILL = """
INSERT INTO runs_series (id, workspace_id, key, server_id, workload_id, server_host_id,
                         client_host_id, tool, tool_version, loop)
SELECT gen_random_uuid(), cell.workspace_id, cell.series_key, cell.server_id, cell.workload_id,
       run.server_host_id, run.client_host_id, cell.tool, cell.tool_version, cell.loop
FROM (SELECT DISTINCT ON (workspace_id, series_key) * FROM runs_cell
      ORDER BY workspace_id, series_key, id) AS cell
JOIN runs_run AS run ON run.id = cell.run_id;
UPDATE runs_cell SET series_id = series.id
FROM runs_series AS series
WHERE series.workspace_id = runs_cell.workspace_id AND series.key = runs_cell.series_key;
UPDATE runs_cell SET trial_count = counted.trials
FROM (SELECT cell_id, count(*) AS trials FROM runs_trial WHERE NOT warmup GROUP BY cell_id)
     AS counted
WHERE counted.cell_id = runs_cell.id;
"""


class Migration(migrations.Migration):
    # PostgreSQL alters no table with deferred constraints pending: rows first, then the columns.
    atomic = False
    dependencies = [
        ("accounts", "0002_data_version"),
        ("runs", "0002_trial_timeline"),
    ]

    operations = [
        migrations.CreateModel(
            name="Series",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("key", models.BinaryField(max_length=32)),
                ("tool", models.CharField(max_length=40)),
                ("tool_version", models.CharField(max_length=80, null=True)),
                ("loop", models.CharField(max_length=10)),
                (
                    "client_host",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="runs.host",
                    ),
                ),
                (
                    "server",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="series",
                        to="runs.server",
                    ),
                ),
                (
                    "server_host",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="runs.host",
                    ),
                ),
                (
                    "workload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="series",
                        to="runs.workload",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.workspace",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "key"), name="series_key")
                ]
            },
        ),
        migrations.AddField("cell", "trial_count", models.PositiveIntegerField(default=0)),
        migrations.AddField("cell", "curve", models.JSONField(null=True)),
        migrations.AddField(
            "cell",
            "series",
            models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="cells",
                to="runs.series",
            ),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.RemoveIndex("cell", "cell_by_series"),
        migrations.RemoveIndex("cell", "cell_by_run"),
        migrations.AlterField(
            "cell",
            "series",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="cells",
                to="runs.series",
            ),
        ),
        migrations.AlterField(
            "cell",
            "run",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="cells",
                to="runs.run",
            ),
        ),
        migrations.RemoveField("cell", "series_key"),
        migrations.RemoveField("cell", "server"),
        migrations.RemoveField("cell", "workload"),
        migrations.RemoveField("cell", "tool"),
        migrations.RemoveField("cell", "tool_version"),
        migrations.RemoveField("cell", "loop"),
        migrations.AddIndex(
            "cell",
            models.Index(
                fields=["run", "series", "connections", "rate_rps"],
                include=["trial_count"],
                name="cell_by_run",
            ),
        ),
        migrations.AddIndex("cell", models.Index(fields=["series", "run"], name="cell_by_series")),
    ]
