from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="workspace",
            name="data_version",
            field=models.BigIntegerField(default=0, editable=False),
        ),
    ]
