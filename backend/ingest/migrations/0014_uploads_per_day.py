"""Uploads of a day are counted beside the stored bytes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ingest", "0013_raw_removed"), ("accounts", "0013_quota")]

    operations = [
        migrations.AddField(
            model_name="storedbytes",
            name="uploads",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="storedbytes", name="day", field=models.DateField(null=True)
        ),
    ]
