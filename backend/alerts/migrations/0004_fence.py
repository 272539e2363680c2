"""Each claim of a run that is judged has a number, which never starts again."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("alerts", "0003_attempts_at_the_claim")]

    operations = [
        migrations.AddField(
            model_name="pendingrun",
            name="fence",
            # Of the database: the former version writes rows without it meanwhile.
            field=models.PositiveIntegerField(default=0, db_default=0),
        ),
    ]
