"""A new address of a workspace, or its deletion, waits for no upload that refers to the workspace.

The table is small: it has one row for each workspace, so both steps take a moment.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0018_audit_of_act")]

    operations = [
        # First, so that at no time two workspaces can have one address.
        migrations.AddConstraint(
            model_name="workspace",
            constraint=models.UniqueConstraint(
                condition=models.Q(("slug", ""), _negated=True),
                fields=("slug",),
                name="workspace_by_slug",
            ),
        ),
        migrations.AlterField(
            model_name="workspace",
            name="slug",
            field=models.SlugField(max_length=60),
        ),
    ]
