"""The audit log is read from an index, also where few of its acts are asked for."""

import pytest
from django.db import connection

from backend.accounts.audit import events_of
from backend.accounts.models import Act
from backend.runs.database.cursors import page_by_time
from backend.testing.plans import index_scan
from backend.testing.rows import STARTED, make_workspace

pytestmark = pytest.mark.django_db
# Of a thousand acts, one made a token.
MANY = """
INSERT INTO accounts_auditevent (id, at, act, workspace_id, actor_name, token_name, subject, detail)
SELECT gen_random_uuid(), %s - number * interval '1 hour',
    CASE number %% 1000 WHEN 1 THEN 'token.created' ELSE 'run.trashed' END, %s, '', '', '', '{}'
FROM generate_series(1, 5000) AS number
"""


@pytest.fixture
def lab():
    lab = make_workspace("lab")
    with connection.cursor() as cursor:
        cursor.execute(MANY, [STARTED, lab.pk])
        cursor.execute("ANALYZE accounts_auditevent")
    return lab


def page_of(lab, *, act="", after="", limit=20):
    return page_by_time(events_of(lab, act=act), "at", after=after, limit=limit)


def test_few_events_of_an_act_are_found_by_an_index(lab):
    index, condition = index_scan(
        "accounts_auditevent", lambda: page_of(lab, act=Act.TOKEN_CREATED)
    )
    assert index == "audit_of_act"
    assert "token.created" in condition
    assert len(page_of(lab, act=Act.TOKEN_CREATED).rows) == 5


@pytest.mark.parametrize(
    ("act", "expected"), [("", "audit_of_workspace"), (Act.TOKEN_CREATED, "audit_of_act")]
)
def test_a_late_page_begins_at_its_cursor(lab, act, expected):
    following = page_of(lab, act=act, limit=2).next
    index, condition = index_scan(
        "accounts_auditevent", lambda: page_of(lab, act=act, after=following, limit=2)
    )
    assert index == expected
    assert "ROW(" in condition
