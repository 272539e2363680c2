"""A workspace that never chose what must match follows the comparison's defaults: null."""

from importlib import import_module

from django.db import migrations, models

FORMER_DEFAULT = import_module("backend.accounts.migrations.0003_must_match").default_must_match()


def forget_the_default(apps, _):
    rows = apps.get_model("accounts", "Workspace").objects
    rows.filter(must_match=FORMER_DEFAULT).update(must_match=None)


def spell_the_default(apps, _):
    rows = apps.get_model("accounts", "Workspace").objects
    rows.filter(must_match__isnull=True).update(must_match=FORMER_DEFAULT)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_must_match")]

    operations = [
        migrations.AlterField(
            model_name="workspace",
            name="must_match",
            field=models.JSONField(blank=True, default=None, null=True),
        ),
        migrations.RunPython(forget_the_default, spell_the_default),
    ]
