"""The audit log, which can only grow, and the access of staff to a workspace."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

# A purge of a deleted workspace says so in its transaction.
APPEND_ONLY = """
CREATE FUNCTION accounts_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('loadsheet.purges_audit', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'an event of the audit log cannot be changed or deleted';
END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON accounts_auditevent
    FOR EACH ROW EXECUTE FUNCTION accounts_audit_is_append_only();
"""
NOT_APPEND_ONLY = """
DROP TRIGGER audit_is_append_only ON accounts_auditevent;
DROP FUNCTION accounts_audit_is_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0009_token_scopes")]

    operations = [
        migrations.CreateModel(
            "AuditEvent",
            [
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("act", models.CharField(max_length=40)),
                ("workspace_id", models.UUIDField(null=True)),
                ("actor_id", models.UUIDField(null=True)),
                ("actor_name", models.CharField(default="", max_length=200)),
                ("token_id", models.UUIDField(null=True)),
                ("token_name", models.CharField(default="", max_length=120)),
                ("address", models.GenericIPAddressField(null=True)),
                ("subject", models.CharField(default="", max_length=200)),
                ("subject_id", models.UUIDField(null=True)),
                ("detail", models.JSONField(default=dict)),
            ],
            options={
                "ordering": ["-at", "-pk"],
                "indexes": [
                    models.Index(
                        fields=["workspace_id", "-at", "-id"], name="audit_of_workspace"
                    )
                ],
            },
        ),
        migrations.RunSQL(APPEND_ONLY, NOT_APPEND_ONLY),
        migrations.CreateModel(
            "StaffAccess",
            [
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("reason", models.CharField(max_length=500)),
                (
                    "opened_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("expires_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="staff_accesses",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.workspace",
                    ),
                ),
            ],
            options={"ordering": ["-opened_at"], "verbose_name_plural": "staff accesses"},
        ),
    ]
