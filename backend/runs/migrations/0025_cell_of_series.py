"""The best load point of a server in each run is found in an index: no load point is read for it."""

from django.db import migrations, models

from backend.migration_steps import AddIndexOnce, RemoveIndexOnce


class Migration(migrations.Migration):
    # The index is built while rows are written.
    atomic = False
    dependencies = [("runs", "0024_run_unfinished")]

    operations = [
        AddIndexOnce(
            model_name="cell",
            index=models.Index(
                fields=["series", "run"], include=["throughput_rps"], name="cell_of_series"
            ),
        ),
        RemoveIndexOnce(model_name="cell", name="cell_by_series"),
    ]
