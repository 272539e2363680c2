"""The result set that the front page of the service shows."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sharing", "0003_saved_views")]

    operations = [
        migrations.AddField(
            model_name="resultset",
            name="featured_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
    ]
