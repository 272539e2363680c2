from django.db import migrations

# A migration of its own: the one that adds the column keeps readers out until it is committed.
# The collector then corrects the sums of stored bytes.
FILL = "UPDATE ingest_upload SET envelope_bytes = octet_length(envelope::text) WHERE envelope <> '{}'"


class Migration(migrations.Migration):

    dependencies = [
        ('ingest', '0009_envelope_bytes'),
    ]

    operations = [
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
