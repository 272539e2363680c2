"""Names and labels are searched by indexes of trigrams (decision 0057)."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models
from django.db.models.functions import Cast, Upper

from backend.migration_steps import AddIndexOnce


class Migration(migrations.Migration):
    # Indexes are built while rows are written.
    atomic = False
    dependencies = [("runs", "0019_cell_by_throughput")]

    operations = [
        TrigramExtension(),
        AddIndexOnce(
            model_name="server",
            index=GinIndex(
                OpClass(Upper("name"), name="gin_trgm_ops"),
                OpClass(Upper("version"), name="gin_trgm_ops"),
                name="server_by_text",
            ),
        ),
        AddIndexOnce(
            model_name="host",
            index=GinIndex(
                OpClass(Upper("name"), name="gin_trgm_ops"),
                OpClass(Upper("cpu_model"), name="gin_trgm_ops"),
                name="host_by_text",
            ),
        ),
        AddIndexOnce(
            model_name="workload",
            index=GinIndex(
                OpClass(Upper("name"), name="gin_trgm_ops"),
                OpClass(Upper("path"), name="gin_trgm_ops"),
                name="workload_by_text",
            ),
        ),
        AddIndexOnce(
            model_name="series",
            index=GinIndex(OpClass(Upper("tool"), name="gin_trgm_ops"), name="series_by_text"),
        ),
        AddIndexOnce(
            model_name="run",
            index=GinIndex(
                OpClass(Upper(Cast("labels", models.TextField())), name="gin_trgm_ops"),
                name="run_by_text",
            ),
        ),
    ]
