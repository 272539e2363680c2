"""The envelope is written and read by other code; its column stays as it is."""

from django.db import migrations, models

from backend.untrusted.json.json_pieces import PieceDecoder, QuickEncoder


class Migration(migrations.Migration):
    dependencies = [("ingest", "0015_upload_is_interactive")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="upload",
                    name="envelope",
                    field=models.JSONField(
                        decoder=PieceDecoder, default=dict, encoder=QuickEncoder
                    ),
                )
            ]
        )
    ]
