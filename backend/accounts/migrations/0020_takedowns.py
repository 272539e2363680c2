"""Takedowns and reports of what is public, and names that leave the audit log with an account."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

# The erasure of an account says so in its transaction. Who acted stays as an id; the name, the
# address and the subject lose the person. When, where and what was done cannot change.
ERASES_NAMES = """
CREATE OR REPLACE FUNCTION accounts_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('loadsheet.purges_audit', true) = 'on' THEN
        RETURN OLD;
    END IF;
    IF TG_OP = 'UPDATE' AND current_setting('loadsheet.erases_account', true) = 'on'
        AND to_jsonb(NEW) - 'actor_name' - 'address' - 'subject'
          = to_jsonb(OLD) - 'actor_name' - 'address' - 'subject' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'an event of the audit log cannot be changed or deleted';
END $$;
"""
ERASES_NO_NAMES = """
CREATE OR REPLACE FUNCTION accounts_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('loadsheet.purges_audit', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'an event of the audit log cannot be changed or deleted';
END $$;
"""
KINDS = [("workspace", "Workspace"), ("result set", "Result Set"), ("run", "Run")]
REASONS = [
    ("personal", "It shows personal or secret data"),
    ("illegal", "It breaks the law"),
    ("copyright", "It breaks a copyright or a trademark"),
    ("abuse", "It insults or threatens somebody"),
    ("spam", "It is spam or advertising"),
    ("false", "Its figures are made up"),
    ("other", "Something else"),
]


def _id() -> models.UUIDField:
    return models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)


def _person() -> models.ForeignKey:
    return models.ForeignKey(
        null=True,
        on_delete=django.db.models.deletion.SET_NULL,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
    )


def _workspace(related_name: str) -> models.ForeignKey:
    return models.ForeignKey(
        on_delete=django.db.models.deletion.CASCADE,
        related_name=related_name,
        to="accounts.workspace",
    )


def _now() -> models.DateTimeField:
    return models.DateTimeField(default=django.utils.timezone.now, editable=False)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0019_address_is_no_key")]

    operations = [
        migrations.CreateModel(
            "Takedown",
            [
                ("id", _id()),
                ("kind", models.CharField(choices=KINDS, max_length=20)),
                ("thing_id", models.UUIDField()),
                ("reason", models.CharField(max_length=500)),
                (
                    "is_legal",
                    models.BooleanField(default=False, verbose_name="for legal reasons"),
                ),
                ("at", _now()),
                ("lifted_at", models.DateTimeField(null=True)),
                ("by", _person()),
                ("lifted_by", _person()),
                ("workspace", _workspace("takedowns")),
            ],
            options={
                "ordering": ["-at", "-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(lifted_at=None),
                        fields=["kind", "thing_id"],
                        name="taken_down_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            "Report",
            [
                ("id", _id()),
                ("kind", models.CharField(choices=KINDS, max_length=20)),
                ("thing_id", models.UUIDField()),
                ("page", models.CharField(max_length=2000)),
                ("reason", models.CharField(choices=REASONS, max_length=20)),
                ("text", models.TextField(blank=True, default="")),
                ("email", models.EmailField(blank=True, default="", max_length=254)),
                ("at", _now()),
                ("closed_at", models.DateTimeField(null=True)),
                ("closed_by", _person()),
                (
                    "takedown",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="reports",
                        to="accounts.takedown",
                    ),
                ),
                ("workspace", _workspace("+")),
            ],
            options={"ordering": ["-at", "-pk"]},
        ),
        migrations.RunSQL(ERASES_NAMES, ERASES_NO_NAMES),
    ]
