"""When the next attempt of an export begins."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("transfer", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="export",
            name="retry_at",
            field=models.DateTimeField(null=True),
        ),
    ]
