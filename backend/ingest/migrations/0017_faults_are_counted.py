"""A day of passing faults is told by their number."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("ingest", "0016_envelope_in_pieces")]

    operations = [
        # The version before names the column, and may run meanwhile: it stays in the database.
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField(model_name="upload", name="postponed_since")]
        )
    ]
