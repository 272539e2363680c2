"""Call a session's agents members; drop a time that nothing reads."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("fleet", "0002_session")]

    operations = [
        migrations.RenameModel(old_name="Seat", new_name="SessionMember"),
        migrations.AlterField(
            model_name="sessionmember",
            name="session",
            field=models.ForeignKey(
                on_delete=models.deletion.CASCADE, related_name="members", to="fleet.session"
            ),
        ),
        migrations.RemoveField(model_name="agent", name="first_seen_at"),
    ]
