"""What is deleted is not read before: each of many rows may hold megabytes."""

import re
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backend.accounts.models import Workspace
from backend.ingest.models import Upload
from backend.ingest.queue.worker import process
from backend.ingest.removing.purging import purge_deleted_workspaces
from backend.ingest.removing.removal import remove_run
from backend.ingest.removing.retention import remove_due_output
from backend.ingest.reprocessing.reprocess import reprocess
from backend.ingest.tests.test_collector import files
from backend.runs.models import Run, Trial
from backend.sharing.models import ResultSet, Visibility
from backend.sharing.workspace_deletion import delete_workspace
from backend.testing.scenes import make_result_set
from backend.testing.uploads import WRK, make_tenant, make_upload

__all__ = ["files"]

pytestmark = pytest.mark.django_db
# The columns themselves, and no part of the JSON in one.
LARGE = ("ingest_upload.envelope", "sharing_resultset.snapshot", "runs_trial.parsed")
READ = re.compile(
    "|".join(r'"{}"\."{}"(?=,| FROM )'.format(*column.split(".")) for column in LARGE)
)


@pytest.fixture
def tenant():
    tenant = make_tenant()
    for text in (WRK, f"{WRK}x", "no output of a load tool", "nor this"):
        process(make_upload(tenant, text).pk)
    return tenant


@contextmanager
def nothing_large_is_read():
    with CaptureQueriesContext(connection) as asked:
        yield
    assert [each["sql"] for each in asked if READ.search(each["sql"])] == []


def test_deleting_a_workspace_reads_nothing_large(tenant):
    for _ in range(2):
        make_result_set(tenant.workspace, Visibility.PUBLIC)
    with nothing_large_is_read():
        delete_workspace(tenant.workspace)
        assert purge_deleted_workspaces() == 1
    assert not any(model.objects.exists() for model in (Upload, Run, Trial, ResultSet))


def test_deleting_a_run_reads_nothing_large(tenant):
    run = Run.objects.first()
    with nothing_large_is_read():
        remove_run(run)
    assert not Run.objects.filter(pk=run.pk).exists()


def test_removing_raw_output_reads_nothing_large(tenant):
    Upload.objects.update(received_at=timezone.now() - timedelta(days=9))
    Workspace.objects.update(raw_kept_days=7)
    with nothing_large_is_read():
        assert remove_due_output() == 4


def test_reading_again_reads_the_trials_before_once(tenant):
    """To tell what changed, and not to delete them."""
    upload = Upload.objects.exclude(run=None).first()
    with CaptureQueriesContext(connection) as asked:
        reprocess(upload.pk)
    assert sum('"runs_trial"."parsed",' in each["sql"] for each in asked) == 1
