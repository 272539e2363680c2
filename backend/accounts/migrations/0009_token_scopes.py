"""Tokens get scopes of their own, networks, an optional end, and the pepper of their digest."""

from django.db import migrations, models


def give_agents_their_scope(apps, schema_editor):
    """Tokens of agents could do all that the scope `agent` allows, so they keep it."""
    tokens = apps.get_model("accounts", "Token").objects.filter(kind="agent")
    for token in tokens.iterator():
        if "runs:write" in token.scopes and "agent" not in token.scopes:
            token.scopes = ["agent", *token.scopes]
            token.save(update_fields=["scopes"])


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_deleted_workspace")]

    operations = [
        migrations.AddField("token", "networks", models.JSONField(default=list)),
        migrations.AddField(
            "token", "pepper_id", models.CharField(default="", editable=False, max_length=8)
        ),
        migrations.AddField("token", "leaked_at", models.DateTimeField(null=True)),
        migrations.AlterField("token", "expires_at", models.DateTimeField(null=True)),
        migrations.AlterField(
            "token",
            "kind",
            models.CharField(
                choices=[("agent", "Agent"), ("api", "Api"), ("link", "Link")], max_length=10
            ),
        ),
        migrations.RunPython(give_agents_their_scope, migrations.RunPython.noop),
    ]
