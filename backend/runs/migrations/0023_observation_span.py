from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0022_run_totals")]

    operations = [
        migrations.AddField("observation", "first_s", models.FloatField(null=True)),
        migrations.AddField("observation", "last_s", models.FloatField(null=True)),
    ]
