import uuid

from django.db import migrations

# Rows of one statement: nobody waits long for their locks.
BATCH = 2000
FILL = """
    UPDATE ingest_upload SET envelope_bytes = octet_length(envelope::text)
    WHERE id BETWEEN %s AND %s AND envelope_bytes = 0 AND envelope <> '{}'
    """


def fill(apps, schema_editor):
    """The sizes of stored envelopes. The collector then corrects the sums of stored bytes."""
    uploads = apps.get_model("ingest", "Upload").objects.order_by("pk")
    last = uuid.UUID(int=0)
    while ids := list(uploads.filter(pk__gt=last).values_list("pk", flat=True)[:BATCH]):
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(FILL, [ids[0], ids[-1]])
        last = ids[-1]


class Migration(migrations.Migration):

    # Each batch is committed by itself.
    atomic = False

    dependencies = [
        ('ingest', '0009_envelope_bytes'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
