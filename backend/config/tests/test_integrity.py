"""A row that is missing is told within an hour: on the operator's page, by /readyz and /metrics."""

import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client

from backend.accounts.models import User
from backend.config.health import verification_task
from backend.config.health.verification_task import REPORTS_KEPT, check_integrity, check_rows
from backend.config.models import IntegrityReport, newest_reports
from backend.ingest.models import Artefact, Upload
from backend.ingest.queue.worker import process
from backend.runs.models import Run
from backend.storage import storage
from backend.testing.uploads import make_tenant, make_upload

HOUR_S = 3600
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_storage")]


@pytest.fixture
def upload():
    """A read upload; two more failed or wait."""
    tenant = make_tenant()
    upload = make_upload(tenant)
    process(upload.pk)
    process(make_upload(tenant, "no output of a load tool").pk)
    make_upload(tenant)
    upload.refresh_from_db()
    return upload


@pytest.fixture
def staff(upload):
    user = User.objects.get()
    user.is_staff = True
    user.save()
    client = Client(SERVER_NAME="localhost")
    client.force_login(user)
    return client


def run_schedule(period_s):
    """One cycle: what beat starts within so many seconds."""
    due = [
        entry for entry in settings.CELERY_BEAT_SCHEDULE.values() if entry["schedule"] <= period_s
    ]
    names = {entry["task"] for entry in due}
    checks = {task.name: task for task in (check_integrity, check_rows)}
    for name in names & set(checks):
        checks[name]()


def text_of(client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def integrity_lines(client):
    lines = text_of(client, "/metrics").splitlines()
    return [line for line in lines if line.startswith("loadsheet_integrity_problems")]


def lose_run(upload):
    Run.objects.filter(pk=upload.run_id).delete()
    return f"upload {upload.pk} was read and has no run"


def lose_upload(upload):
    Upload.objects.filter(pk=upload.pk).delete()
    return f"run {upload.run_id} has no upload"


def lose_artefact(upload):
    Artefact.objects.filter(upload=upload).delete()
    return f"upload {upload.pk} has no artefact"


@pytest.mark.parametrize("lose", [lose_run, lose_upload, lose_artefact])
def test_a_missing_row_is_told_after_one_hour(staff, upload, lose):
    run_schedule(HOUR_S)
    assert "warning: the integrity" not in text_of(staff, "/readyz")
    assert "Everything is accounted for" in text_of(staff, "/operator")
    assert integrity_lines(staff) == ['loadsheet_integrity_problems{checks="rows"} 0.0']
    problem = lose(upload)
    run_schedule(HOUR_S)
    assert problem in text_of(staff, "/operator")
    warning = "warning: the integrity checks found 1 problem: see /operator"
    assert warning in text_of(staff, "/readyz").splitlines()
    assert integrity_lines(staff) == ['loadsheet_integrity_problems{checks="rows"} 1.0']


def test_missing_bytes_are_told_after_a_day(staff, upload):
    sha256 = upload.artefacts.get().sha256
    storage().remove(sha256)
    run_schedule(HOUR_S)
    assert f"{sha256} is missing" not in text_of(staff, "/operator")
    run_schedule(24 * HOUR_S)
    assert f"{sha256} is missing" in text_of(staff, "/operator")


def test_an_hourly_count_hides_no_daily_problem(staff, upload):
    storage().remove(upload.artefacts.get().sha256)
    check_integrity()
    check_rows()
    assert [report.kind for report in newest_reports()] == ["rows", "all"]
    page = text_of(staff, "/operator")
    assert "is missing" in page
    assert "Everything is accounted for" in page
    assert "warning: the integrity checks found" in text_of(staff, "/readyz")
    assert 'loadsheet_integrity_problems{checks="all"} 1.0' in integrity_lines(staff)


def test_a_complete_check_replaces_the_count_before_it(upload):
    check_rows()
    check_integrity()
    assert [report.kind for report in newest_reports()] == ["all"]


def test_a_few_reports_of_each_kind_are_kept():
    check_integrity()
    for _ in range(REPORTS_KEPT + 2):
        check_rows()
    assert IntegrityReport.objects.filter(is_complete=False).count() == REPORTS_KEPT
    assert IntegrityReport.objects.filter(is_complete=True).count() == 1


def test_a_check_that_takes_too_long_is_told(staff, monkeypatch):
    def stop():
        raise OperationalError("canceling statement due to statement timeout")
        yield

    monkeypatch.setattr(verification_task, "verify_rows", stop)
    check_rows()
    assert "canceling statement due to statement timeout" in text_of(staff, "/operator")
    readiness = text_of(staff, "/readyz")
    assert "warning: the integrity checks could not end: see /operator" in readiness
    assert "canceling" not in readiness
    assert integrity_lines(staff) == []
