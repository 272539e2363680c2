"""The runs that frozen result sets cite, as rows."""

import uuid

import django.db.models.deletion
import orjson
from django.db import migrations, models


def fill(apps, schema_editor):
    result_sets = apps.get_model("sharing", "ResultSet").objects.exclude(snapshot=None)
    cited_run = apps.get_model("sharing", "CitedRun")
    for pk, snapshot in result_sets.values_list("pk", "snapshot").iterator(chunk_size=20):
        runs = {uuid.UUID(run["id"]) for run in orjson.loads(bytes(snapshot)).get("runs", [])}
        cited_run.objects.bulk_create(cited_run(result_set_id=pk, run=run) for run in runs)


class Migration(migrations.Migration):
    dependencies = [("sharing", "0004_featured")]

    operations = [
        migrations.CreateModel(
            name="CitedRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("run", models.UUIDField()),
                (
                    "result_set",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="cited_runs",
                        to="sharing.resultset",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="citedrun",
            constraint=models.UniqueConstraint(
                fields=("result_set", "run"), name="run_cited_once"
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
