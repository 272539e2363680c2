"""Remember which API token made a feed token, which opens nothing once that one has ended.

Of feed tokens made before it is unknown: they end as before, when they are revoked.
"""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0015_token_made_by"), ("feeds", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="feedtoken",
            name="made_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="accounts.token",
            ),
        ),
    ]
