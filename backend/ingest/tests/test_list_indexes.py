"""Lists of uploads are read from an index, also where few are in the state that is asked for."""

import uuid

import pytest
from django.db import connection

from backend.ingest.artefacts.evidence import uploads_by_name
from backend.ingest.listing.listed_uploads import Which
from backend.ingest.listing.listing import upload_page
from backend.ingest.models import Upload
from backend.ingest.reprocessing.rereadings import rereadings_of
from backend.testing.plans import first_plan, index_scan
from backend.testing.rows import STARTED, make_workspace

pytestmark = pytest.mark.django_db
# Every thousandth failed, and every thousandth was read in part.
MANY = """
INSERT INTO ingest_upload (id, workspace_id, envelope, tool_hint, content_sha256, state, reason,
    received_at, attempts, faults, fence, parser_version)
SELECT gen_random_uuid(), %s, '{}', '', '',
    CASE number %% 1000 WHEN 1 THEN 'failed' ELSE 'parsed' END,
    CASE WHEN number %% 1000 < 2 THEN '1 of 2 results could not be read.' ELSE '' END,
    %s - number * interval '1 hour', 1, 0, 1, ''
FROM generate_series(1, 5000) AS number
"""


@pytest.fixture
def lab():
    lab = make_workspace("lab")
    with connection.cursor() as cursor:
        cursor.execute(MANY, [lab.pk, STARTED])
        cursor.execute("ANALYZE ingest_upload")
    return lab


@pytest.mark.parametrize("which", [Which.FAILED, Which.PARTIAL])
def test_few_uploads_of_a_state_are_found_by_an_index(lab, which):
    index, _ = index_scan("ingest_upload", lambda: upload_page(lab.pk, which=which, limit=20))
    assert index == "upload_in_trouble"
    assert len(upload_page(lab.pk, which=which, limit=20).rows) == 5


@pytest.mark.parametrize("state", ["failed", "quarantined"])
def test_so_are_those_of_a_state_that_the_api_is_asked_for(lab, state):
    rows = Upload.objects.filter(workspace=lab, state=state).order_by("-received_at")
    index, _ = index_scan("ingest_upload", lambda: list(rows[:20]))
    assert index == "upload_in_trouble"


def test_a_late_page_begins_at_its_cursor(lab):
    following = upload_page(lab.pk, limit=20).next
    index, condition = index_scan(
        "ingest_upload", lambda: upload_page(lab.pk, after=following, limit=20)
    )
    assert index == "upload_by_workspace"
    assert "received_at" in condition


def test_the_uploads_that_name_a_run_are_found_by_an_index(lab):
    run_id = uuid.uuid4()
    plan = str(first_plan(lambda: list(uploads_by_name(lab.pk, [run_id]))))
    assert "upload_by_named_run" in plan
    assert "Seq Scan" not in plan
    assert "upload_by_named_run" in str(first_plan(lambda: rereadings_of(run_id)))
