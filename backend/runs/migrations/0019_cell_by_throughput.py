"""The best load point of a run is the last entry of an index: a list by throughput reads no more."""

from django.db import migrations, models

from backend.migration_steps import AddIndexOnce


class Migration(migrations.Migration):
    # The index is built while rows are written.
    atomic = False
    dependencies = [("runs", "0018_list_indexes")]

    operations = [
        AddIndexOnce(
            model_name="cell",
            index=models.Index(fields=["run", "throughput_rps"], name="cell_by_throughput"),
        ),
    ]
