"""For how many days a workspace keeps raw output."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0011_workspace_link")]

    operations = [
        migrations.AddField(
            model_name="workspace",
            name="raw_kept_days",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
    ]
