"""Let two workspaces report progress under the same run id.

Django cannot change which column is the primary key. The default stays for the version before, which
may still run and knows no `id`.
"""

import uuid

from django.db import migrations, models

TO_ID = """
ALTER TABLE fleet_progress DROP CONSTRAINT fleet_progress_pkey;
ALTER TABLE fleet_progress ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY;
"""
# Of two rows with the same run, the one heard last stays.
TO_RUN = """
DELETE FROM fleet_progress older USING fleet_progress newer
    WHERE older.run = newer.run AND (older.heard_at, older.id) < (newer.heard_at, newer.id);
ALTER TABLE fleet_progress DROP COLUMN id;
ALTER TABLE fleet_progress ADD CONSTRAINT fleet_progress_pkey PRIMARY KEY (run);
"""


class Migration(migrations.Migration):
    dependencies = [("fleet", "0003_session_member")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(TO_ID, TO_RUN)],
            state_operations=[
                migrations.AlterField("progress", "run", models.UUIDField()),
                migrations.AddField(
                    "progress",
                    "id",
                    models.UUIDField(
                        primary_key=True, default=uuid.uuid4, editable=False, serialize=False
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            "progress",
            models.UniqueConstraint(fields=["run", "workspace"], name="progress_of_a_run"),
        ),
    ]
