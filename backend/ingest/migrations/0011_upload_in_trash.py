"""Whether the run of an upload is in the trash."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('ingest', '0010_fill_envelope_bytes'),
    ]

    operations = [
        migrations.AddField(
            model_name='upload',
            name='is_in_trash',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
