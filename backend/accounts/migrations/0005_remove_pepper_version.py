from django.db import migrations


class Migration(migrations.Migration):
    """The version of the pepper was never read."""

    dependencies = [("accounts", "0004_must_match_by_choice")]

    operations = [migrations.RemoveField(model_name="token", name="pepper_version")]
