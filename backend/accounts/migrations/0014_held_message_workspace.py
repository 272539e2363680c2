"""Mails that were not sent go with the workspace that they tell of.

Those of before name no workspace, and go after 7 days as ever.
"""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0013_quota")]

    operations = [
        migrations.AddField(
            model_name="heldmessage",
            name="workspace",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="accounts.workspace",
            ),
        ),
    ]
