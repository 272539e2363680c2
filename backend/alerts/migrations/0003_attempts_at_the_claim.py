"""A run that is judged is held by a lease, and keeps which rules judged it."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("alerts", "0002_alert_by_state")]

    operations = [
        migrations.AddField(
            model_name="pendingrun",
            name="lease_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="pendingrun",
            name="judged",
            field=ArrayField(models.UUIDField(), null=True),
        ),
    ]
