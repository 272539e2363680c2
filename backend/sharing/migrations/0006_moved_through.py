"""The namespaces that the ids of an imported result set were moved through."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sharing", "0005_cited_runs")]

    operations = [
        migrations.AddField(
            model_name="resultset",
            name="moved_through",
            field=models.JSONField(default=list, editable=False),
        ),
    ]
