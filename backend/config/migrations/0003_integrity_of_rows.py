from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("config", "0002_integrity_report"),
    ]

    operations = [
        migrations.AddField(
            model_name="integrityreport",
            name="is_complete",
            field=models.BooleanField(db_default=True, default=True),
        ),
    ]
