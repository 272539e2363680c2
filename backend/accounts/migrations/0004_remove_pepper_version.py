from django.db import migrations


class Migration(migrations.Migration):
    """The version of the pepper was never read."""

    dependencies = [("accounts", "0003_must_match")]

    operations = [migrations.RemoveField(model_name="token", name="pepper_version")]
