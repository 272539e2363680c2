"""Links of workspaces and invitations remember the pepper of their digest, as tokens do.

Of those made before it is not recorded: their next use stores it.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0015_token_made_by")]

    operations = [
        migrations.AddField(
            "invitation",
            "pepper_id",
            models.CharField(db_default="", default="", editable=False, max_length=8),
        ),
        migrations.AddField(
            "workspacelink",
            "pepper_id",
            models.CharField(db_default="", default="", editable=False, max_length=8),
        ),
        migrations.AlterField(
            "token",
            "pepper_id",
            models.CharField(db_default="", default="", editable=False, max_length=8),
        ),
    ]
