"""The session of a run has its name and the number of its agents alone.

Before, it had the unknown members of its upload too: up to 4 MB, which lists of runs read.
"""

from typing import Any

from django.db import migrations

from backend.migration_steps import batches_of_keys

# The longest name that an envelope may have.
CUT = """
UPDATE runs_run SET session = cut.session
FROM (
    SELECT id, jsonb_strip_nulls(jsonb_build_object(
        'name', CASE WHEN jsonb_typeof(session -> 'name') = 'string'
            AND length(session ->> 'name') <= 100 THEN session -> 'name' END,
        'parts', CASE WHEN jsonb_typeof(session -> 'parts') = 'number' THEN session -> 'parts' END
    )) AS session
    FROM runs_run WHERE id = ANY(%s) AND session <> '{}' ORDER BY id FOR NO KEY UPDATE
) AS cut
WHERE runs_run.id = cut.id AND runs_run.session <> cut.session
"""


def cut_sessions(apps: Any, schema_editor: Any) -> None:
    """Of the runs that are there, in batches that are committed by themselves."""
    for runs in batches_of_keys(apps.get_model("runs", "run")):
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(CUT, [runs])


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("runs", "0027_run_by_happening")]

    operations = [migrations.RunPython(cut_sessions, migrations.RunPython.noop)]
