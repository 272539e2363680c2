"""The name of who invited leaves the audit log with the account."""

from importlib import import_module

from django.db import migrations

ERASES_NAMES = import_module("backend.accounts.migrations.0020_takedowns").ERASES_NAMES
ERASES_INVITERS = """
CREATE OR REPLACE FUNCTION accounts_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('loadsheet.purges_audit', true) = 'on' THEN
        RETURN OLD;
    END IF;
    IF TG_OP = 'UPDATE' AND current_setting('loadsheet.erases_account', true) = 'on'
        AND to_jsonb(NEW) - 'actor_name' - 'address' - 'subject' #- '{detail,invited_by}'
          = to_jsonb(OLD) - 'actor_name' - 'address' - 'subject' #- '{detail,invited_by}' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'an event of the audit log cannot be changed or deleted';
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0022_work_turns")]

    operations = [migrations.RunSQL(ERASES_INVITERS, ERASES_NAMES)]
