"""Feed tokens are signed with the pepper, as other tokens are.

Those made before keep their plain SHA-256, without a lookup, and go on working.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("feeds", "0002_feed_token_made_by")]

    operations = [
        migrations.AddField(
            "feedtoken",
            "lookup",
            models.CharField(db_default="", db_index=True, default="", max_length=8),
        ),
        migrations.AddField(
            "feedtoken",
            "pepper_id",
            models.CharField(db_default="", default="", editable=False, max_length=8),
        ),
    ]
