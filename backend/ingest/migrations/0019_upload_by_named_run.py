"""The uploads that name a run in their envelope are found by an index."""

from django.db import migrations, models

from backend.migration_steps import AddIndexOnce


class Migration(migrations.Migration):
    # The index is built while rows are written.
    atomic = False
    dependencies = [("ingest", "0018_uploads_in_trouble")]

    operations = [
        AddIndexOnce(
            model_name="upload",
            index=models.Index(
                models.Func(
                    "envelope",
                    template="left(lower(replace(%(expressions)s #>> '{run,id}', '-', '')), 32)",
                    output_field=models.TextField(),
                ),
                name="upload_by_named_run",
            ),
        ),
    ]
