"""Lists of alerts are read from an index, also where few are in the state that is asked for."""

import pytest
from django.db import connection

from backend.alerts.listing import alert_page
from backend.alerts.models import AlertRule, RuleKind
from backend.testing.plans import index_scan
from backend.testing.rows import STARTED, make_workspace

pytestmark = pytest.mark.django_db
# Of a thousand alerts, one goes on.
MANY = """
INSERT INTO alerts_alert (id, workspace_id, rule_id, subject, state, text, data, seen_at)
SELECT gen_random_uuid(), %s, %s, number,
    CASE number %% 1000 WHEN 1 THEN 'new' ELSE 'fixed' END, '', '{}',
    %s - number * interval '1 hour'
FROM generate_series(1, 5000) AS number
"""


def test_few_alerts_of_a_state_are_found_by_an_index():
    lab = make_workspace("lab")
    rule = AlertRule.objects.create(workspace=lab, name="p99", kind=RuleKind.REGRESSION)
    with connection.cursor() as cursor:
        cursor.execute(MANY, [lab.pk, rule.pk, STARTED])
        cursor.execute("ANALYZE alerts_alert")
    index, condition = index_scan("alerts_alert", lambda: alert_page([lab.pk], "new", limit=20))
    assert index == "alert_by_state"
    assert "state" in condition
    assert len(alert_page([lab.pk], "new", limit=20).rows) == 5
