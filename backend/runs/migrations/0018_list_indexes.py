"""A list of runs counts trials, and finds the best load points, without reading their rows."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from backend.migration_steps import AddIndexOnce, RemoveIndexOnce, drop_indexes

NEW = ("trial_of_run", "trial_failed")


def drop_former_index(apps: Any, schema_editor: Any) -> None:
    """Drop the index that the foreign key had: `trial_of_run` takes its place."""
    trial = apps.get_model("runs", "trial")
    drop_indexes(schema_editor, trial, columns=["run_id"], but=NEW)


class Migration(migrations.Migration):
    # Indexes are built while rows are written.
    atomic = False
    dependencies = [("runs", "0017_run_completed_at")]

    operations = [
        AddIndexOnce(
            model_name="cell",
            index=models.Index(
                fields=["run", "series", "connections", "rate_rps"],
                include=["trial_count", "throughput_rps"],
                name="cell_of_run",
            ),
        ),
        RemoveIndexOnce(model_name="cell", name="cell_by_run"),
        AddIndexOnce(
            model_name="trial",
            index=models.Index(fields=["run"], include=["warmup"], name="trial_of_run"),
        ),
        AddIndexOnce(
            model_name="trial",
            index=models.Index(
                fields=["run"], condition=models.Q(("error", ""), _negated=True), name="trial_failed"
            ),
        ),
        # Django would drop the foreign key, and read every trial to make it anew.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="trial",
                    name="run",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="trials",
                        to="runs.run",
                    ),
                ),
            ],
        ),
        migrations.RunPython(drop_former_index, migrations.RunPython.noop),
    ]
