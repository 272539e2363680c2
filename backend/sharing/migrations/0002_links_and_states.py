"""Links apart from ids, live result sets, and the ends a result set may come to."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    # PostgreSQL alters no table with deferred constraints pending: rows first, then the columns.
    atomic = False
    dependencies = [("accounts", "0001_initial"), ("sharing", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="resultset",
            name="link",
            field=models.UUIDField(null=True, default=uuid.uuid4, editable=False),
        ),
        # What is cited already stays where it is.
        migrations.RunSQL(
            "UPDATE sharing_resultset SET link = id", reverse_sql=migrations.RunSQL.noop
        ),
        migrations.AlterField(
            model_name="resultset",
            name="link",
            field=models.UUIDField(unique=True, default=uuid.uuid4, editable=False),
        ),
        migrations.AddField(
            model_name="resultset",
            name="kind",
            field=models.CharField(
                choices=[("frozen", "Frozen"), ("live", "Live")], default="frozen", max_length=10
            ),
        ),
        migrations.AddField(
            model_name="resultset",
            name="notes",
            field=models.TextField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="resultset",
            name="snapshot",
            field=models.BinaryField(null=True, editable=False),
        ),
        migrations.AlterField(
            model_name="resultset",
            name="sha256",
            field=models.CharField(default="", editable=False, max_length=64),
        ),
        migrations.AddField(
            model_name="resultset",
            name="superseded_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="supersedes",
                to="sharing.resultset",
            ),
        ),
        migrations.AddField(
            model_name="resultset",
            name="expires_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="resultset",
            name="withdrawn_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="resultset",
            name="withdrawn_reason",
            field=models.TextField(default="", editable=False),
        ),
        migrations.AlterModelOptions(
            name="resultset", options={"ordering": ["-created_at", "-pk"]}
        ),
        migrations.AddConstraint(
            model_name="resultset",
            constraint=models.CheckConstraint(
                condition=models.Q(kind="frozen", snapshot__isnull=False)
                | models.Q(kind="live", snapshot__isnull=True),
                name="frozen_has_a_snapshot",
            ),
        ),
        migrations.AddConstraint(
            model_name="resultset",
            constraint=models.CheckConstraint(
                condition=models.Q(("superseded_by", models.F("id")), _negated=True),
                name="not_superseded_by_itself",
            ),
        ),
        migrations.CreateModel(
            name="Drawing",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64)),
                ("png", models.BinaryField()),
                ("drawn_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "result_set",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="drawing",
                        to="sharing.resultset",
                    ),
                ),
            ],
        ),
    ]
