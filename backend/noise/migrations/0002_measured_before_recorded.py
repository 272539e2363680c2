"""An A/A comparison of a run with a date in the future counts as measured when it was recorded.

It passed for the newest one for years, and newer ones were left out of the noise of their host.
"""

from django.db import migrations

_COMPARISONS = """
    UPDATE noise_selfcomparison row SET measured_at = run.recorded_at
    FROM runs_run run WHERE run.id = row.run_id AND row.measured_at > run.recorded_at
"""
_HOSTS = """
    UPDATE noise_hostnoise noise SET latest = (
        SELECT max(measured_at) FROM noise_selfcomparison row WHERE row.host_id = noise.host_id
    ) WHERE latest > now()
"""


class Migration(migrations.Migration):
    dependencies = [("noise", "0001_initial"), ("runs", "0027_run_by_happening")]

    operations = [
        migrations.RunSQL(_COMPARISONS, migrations.RunSQL.noop),
        migrations.RunSQL(_HOSTS, migrations.RunSQL.noop),
    ]
