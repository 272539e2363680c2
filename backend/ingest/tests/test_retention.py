"""Raw output goes when it is older than its workspace keeps it; figures and counts stay right."""

import io
import uuid
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db.models import Value
from django.utils import timezone

from backend.accounts.models import Act, AuditEvent, Workspace
from backend.ingest import tasks
from backend.ingest.models import State, Upload
from backend.ingest.preview.provenance import provenance_of
from backend.ingest.queue.worker import process
from backend.ingest.quota.stored_sums import recount, stored_bytes
from backend.ingest.removing import retention
from backend.ingest.removing.retention import RawOutputRemoved, count_due_output, remove_due_output
from backend.ingest.reprocessing.reprocess import outdated, reprocess
from backend.ingest.tasks import collect
from backend.ingest.tests.test_collector import files
from backend.ingest.tests.test_verification import verified
from backend.runs.models import Trial
from backend.storage import storage
from backend.testing.uploads import WRK, make_tenant, make_upload

__all__ = ["files"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return make_tenant()


def read(tenant, *texts, days=0):
    """An upload that was received so many days ago, and read."""
    upload = make_upload(tenant, *texts)
    process(upload.pk)
    Upload.objects.filter(pk=upload.pk).update(received_at=timezone.now() - timedelta(days=days))
    upload.refresh_from_db()
    return upload


def keep_for(tenant, days):
    Workspace.objects.filter(pk=tenant.workspace.pk).update(raw_kept_days=days)
    tenant.workspace.refresh_from_db()


def has_bytes(upload):
    return all(storage().has(artefact.sha256) for artefact in upload.artefacts.all())


def test_by_default_raw_output_is_kept_for_ever(tenant):
    upload = read(tenant, days=9000)
    assert remove_due_output() == 0
    assert has_bytes(upload)


def test_the_collector_removes_what_is_older_and_keeps_the_figures(tenant):
    old, new = read(tenant, days=31), read(tenant, WRK + "\n", days=29)
    figures = list(Trial.objects.order_by("pk").values())
    keep_for(tenant, 30)
    collect()
    assert (has_bytes(old), has_bytes(new)) == (False, True)
    assert list(Trial.objects.order_by("pk").values()) == figures
    old.refresh_from_db()
    assert old.removal_note == (
        f"Raw output removed on {timezone.now():%Y-%m-%d}, kept 30 days by this workspace's "
        "setting."
    )
    event = AuditEvent.objects.get(act=Act.RAW_OUTPUT_REMOVED)
    size_bytes = old.artefacts.get().size_bytes
    assert event.detail == {"kept_days": 30, "uploads": 1, "files": 1, "size_bytes": size_bytes}
    assert remove_due_output() == 0


def test_the_count_before_is_what_goes(tenant):
    for number in range(3):
        read(tenant, WRK + "\n" * number, "note", days=10)
    read(tenant, WRK + " ", days=1)
    due = count_due_output(tenant.workspace, 7)
    assert (due.uploads, due.files) == (3, 6)
    keep_for(tenant, 7)
    assert remove_due_output() == 6
    (event,) = AuditEvent.objects.filter(act=Act.RAW_OUTPUT_REMOVED)
    assert event.detail["size_bytes"] == due.size_bytes
    assert count_due_output(tenant.workspace, 7).files == 0


def test_many_uploads_go_in_small_statements(tenant, monkeypatch):
    monkeypatch.setattr(retention, "UPLOADS_AT_ONCE", 2)
    for number in range(5):
        read(tenant, WRK + "\n" * number, days=10)
    keep_for(tenant, 7)
    assert remove_due_output(budget_s=0) == 0
    assert remove_due_output() == 5


def test_the_quota_and_the_integrity_checks_count_what_is_left(tenant):
    old = read(tenant, days=31)
    before = stored_bytes(tenant.workspace.pk)
    keep_for(tenant, 30)
    remove_due_output()
    assert before - stored_bytes(tenant.workspace.pk) == old.artefacts.get().size_bytes
    assert recount() == 0
    status, table = verified("--hash")
    assert status == 0, table
    removed = "artefacts whose bytes were removed for their age 1 ok"
    assert removed in [" ".join(line.split()) for line in table.splitlines()]


def test_bytes_that_another_upload_names_stay(tenant):
    old, new = read(tenant, days=31), read(tenant, days=1)
    keep_for(tenant, 30)
    remove_due_output()
    assert has_bytes(new)
    Upload.objects.filter(pk=new.pk).update(received_at=old.received_at)
    remove_due_output()
    assert not has_bytes(new)


def test_an_upload_that_waits_keeps_its_raw_output(tenant):
    upload = make_upload(tenant)
    Upload.objects.update(received_at=timezone.now() - timedelta(days=31))
    keep_for(tenant, 30)
    assert remove_due_output() == 0
    process(upload.pk)
    assert remove_due_output() == 1
    upload.refresh_from_db()
    assert upload.state == State.PARSED


def test_reading_again_is_refused_with_the_reason_and_changes_nothing(tenant):
    upload = read(tenant, days=31)
    keep_for(tenant, 30)
    remove_due_output()
    Upload.objects.update(parser_version="older")
    figures = list(Trial.objects.values())
    with pytest.raises(RawOutputRemoved, match="kept 30 days by this workspace's setting"):
        reprocess(upload.pk)
    assert not outdated().exists()
    out = io.StringIO()
    call_command("reprocess", "--all", stdout=out)
    assert "not read, the figures stay: Raw output removed on" in out.getvalue()
    assert "1 without raw output" in out.getvalue()
    assert list(Trial.objects.values()) == figures


def test_the_trial_says_why_there_is_no_text(tenant):
    upload = read(tenant, days=31)
    keep_for(tenant, 30)
    remove_due_output()
    shown = provenance_of(Trial.objects.get(artefacts__upload=upload))
    assert shown.texts == ()
    assert shown.why_not.startswith("Raw output removed on")


def test_the_command_says_what_goes_and_removes_it(tenant):
    old = read(tenant, days=31)
    keep_for(tenant, 30)
    for options in (["--dry-run"], []):
        assert has_bytes(old)
        out = io.StringIO()
        call_command("collect", *options, stdout=out)
        assert "1  raw files past their days" in out.getvalue()
    assert not has_bytes(old)


@pytest.mark.parametrize("spell", [str, lambda id_: str(id_).upper(), lambda id_: id_.hex])
def test_an_early_trial_of_a_run_that_is_held_keeps_its_raw_output(tenant, monkeypatch, spell):
    """Its upload names the run in the envelope only, as the agent wrote the id."""
    upload, run_id = read(tenant, days=31), uuid.uuid4()
    Upload.objects.filter(pk=upload.pk).update(run=None, envelope={"run": {"id": spell(run_id)}})
    keep_for(tenant, 30)
    held = Workspace.objects.annotate(digits=Value(run_id.hex)).values("digits")
    monkeypatch.setattr(retention, "HELD_RUNS", [lambda _: held])
    assert (remove_due_output(), has_bytes(upload)) == (0, True)
    monkeypatch.setattr(retention, "HELD_RUNS", [])
    assert remove_due_output() == 1


def test_a_fault_in_one_workspace_stops_no_other(tenant, monkeypatch, caplog):
    other = make_tenant("other")
    uploads = [read(each, days=10) for each in (tenant, other)]
    for each in (tenant, other):
        keep_for(each, 7)
    remove = retention._remove_some

    def remove_some(workspace, after):
        if workspace == tenant.workspace:
            raise RuntimeError("unforeseen")
        return remove(workspace, after)

    monkeypatch.setattr(retention, "_remove_some", remove_some)
    assert remove_due_output() == 1
    assert Upload.objects.exclude(raw_removed_at=None).get() == uploads[1]
    assert "work_failed" in caplog.text


def test_a_fault_of_one_step_of_the_collector_stops_no_other(tenant, monkeypatch, caplog):
    upload = read(tenant, days=31)
    keep_for(tenant, 30)

    def remove_expired_runs():
        raise RuntimeError("unforeseen")

    monkeypatch.setattr(tasks, "remove_expired_runs", remove_expired_runs)
    collect()
    assert not has_bytes(upload)
    assert "step_failed" in caplog.text
