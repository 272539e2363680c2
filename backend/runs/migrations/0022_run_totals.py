"""Runs keep how many trials they have and their best throughput: lists are sorted by an index.

The database writes both, so that whatever changes trials or load points, the version before
included, cannot forget it.
"""

from typing import Any

from django.db import migrations, models, transaction
from django.db.models.functions import Coalesce

from backend.migration_steps import AddFieldOnce, AddIndexOnce, batches_of_keys

# A row is changed only where its value differs: a run that was written with its values is not
# written again. Whoever loads whole workspaces counts once at the end (runs/recording/totals.py).
KEEP = """
CREATE OR REPLACE FUNCTION runs_keep_trials() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('loadsheet.totals_later', true) = 'on' THEN RETURN NULL; END IF;
    UPDATE runs_run SET counted_trials = counted.trials
    FROM (SELECT DISTINCT run_id FROM changed) AS changed
    CROSS JOIN LATERAL (
        SELECT count(*) AS trials FROM runs_trial WHERE run_id = changed.run_id AND NOT warmup
    ) AS counted
    WHERE id = changed.run_id AND counted_trials <> counted.trials;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION runs_keep_best() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('loadsheet.totals_later', true) = 'on' THEN RETURN NULL; END IF;
    UPDATE runs_run SET best_rps = best.rps
    FROM (SELECT DISTINCT run_id FROM changed) AS changed
    CROSS JOIN LATERAL (
        SELECT max(throughput_rps) AS rps FROM runs_cell WHERE run_id = changed.run_id
    ) AS best
    WHERE id = changed.run_id AND best_rps IS DISTINCT FROM best.rps;
    RETURN NULL;
END $$;
"""
# No trial and no load point changes these columns once it is stored, or moves to another run.
WHEN = """
CREATE OR REPLACE TRIGGER {name}_of_new AFTER INSERT ON {table}
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION {function}();
CREATE OR REPLACE TRIGGER {name}_of_deleted AFTER DELETE ON {table}
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION {function}();
"""
TRIALS = WHEN.format(name="keep_trials", table="runs_trial", function="runs_keep_trials")
BEST = WHEN.format(name="keep_best", table="runs_cell", function="runs_keep_best")
FORGET = """
DROP FUNCTION runs_keep_trials() CASCADE;
DROP FUNCTION runs_keep_best() CASCADE;
"""
# Whoever writes trials of a run has locked it, or waits here: FILL, which comes after that, sees all
# that was written before.
LOCK = "SELECT FROM runs_run WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
FILL = """
UPDATE runs_run SET
    counted_trials = (SELECT count(*) FROM runs_trial WHERE run_id = runs_run.id AND NOT warmup),
    best_rps = (SELECT max(throughput_rps) FROM runs_cell WHERE run_id = runs_run.id)
WHERE id = ANY(%s)
"""


def fill(apps: Any, schema_editor: Any) -> None:
    """Of the runs that are there."""
    for keys in batches_of_keys(apps.get_model("runs", "run")):
        alias = schema_editor.connection.alias
        with transaction.atomic(alias), schema_editor.connection.cursor() as cursor:
            cursor.execute(LOCK, [keys])
            cursor.execute(FILL, [keys])


class Migration(migrations.Migration):
    # Runs are filled in batches, and indexes are built while rows are written.
    atomic = False
    dependencies = [("runs", "0021_run_by_start")]

    operations = [
        AddFieldOnce("run", "counted_trials", models.IntegerField(db_default=0, editable=False)),
        AddFieldOnce("run", "best_rps", models.FloatField(editable=False, null=True)),
        migrations.RunSQL(KEEP, FORGET),
        migrations.RunSQL(TRIALS, migrations.RunSQL.noop),
        migrations.RunSQL(BEST, migrations.RunSQL.noop),
        migrations.RunPython(fill, migrations.RunPython.noop),
        AddIndexOnce(
            model_name="run",
            index=models.Index("workspace", "counted_trials", "id", name="run_by_trials"),
        ),
        AddIndexOnce(
            model_name="run",
            index=models.Index(
                "workspace", Coalesce("best_rps", models.Value(-1.0)), "id", name="run_by_best"
            ),
        ),
    ]
