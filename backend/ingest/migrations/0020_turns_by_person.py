"""Persons take turns (accounts_workturn), not workspaces."""

from typing import Any

from django.db import migrations


def let_workspaces_be_deleted(apps: Any, schema_editor: Any) -> None:
    """Drop the foreign key: nobody deletes the rows of a workspace any more."""
    table, connection = "ingest_turn", schema_editor.connection
    with connection.cursor() as cursor:
        constraints = connection.introspection.get_constraints(cursor, table)
    for name, what in constraints.items():
        if what["foreign_key"]:
            schema_editor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')


class Migration(migrations.Migration):
    # It may be run again where it stopped.
    atomic = False
    dependencies = [
        ("accounts", "0022_work_turns"),
        ("ingest", "0019_upload_by_named_run"),
    ]

    operations = [
        migrations.RunPython(let_workspaces_be_deleted, migrations.RunPython.noop),
        # The version before names the table, and may run meanwhile: it stays in the database.
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel(name="Turn")]
        ),
    ]
