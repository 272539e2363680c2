"""Remember which token made which, so that revoking one revokes those too.

For tokens made before this migration it is unknown.
"""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0014_held_message_workspace")]

    operations = [
        migrations.AddField(
            model_name="token",
            name="made_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="made",
                to="accounts.token",
            ),
        ),
    ]
