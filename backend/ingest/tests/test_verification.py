"""`manage.py verify` says what is missing, and nothing where all is there."""

import io
import time
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from backend.accounts.models import Workspace
from backend.ingest.models import State, Upload
from backend.ingest.queue.worker import process
from backend.ingest.tests.test_collector import files, make_old
from backend.runs.models import Run
from backend.storage import storage
from backend.testing.uploads import make_tenant, make_upload

__all__ = ["files"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def upload():
    tenant = make_tenant()
    make_upload(tenant, "no tool's output")
    upload = make_upload(tenant)
    for waiting in Upload.objects.all():
        process(waiting.pk)
    return upload


def verified(*options):
    out = io.StringIO()
    try:
        call_command("verify", *options, stdout=out)
    except SystemExit as end:
        return end.code, out.getvalue()
    return 0, out.getvalue()


def test_where_all_is_there_the_table_says_ok(upload):
    status, table = verified("--hash")
    assert status == 0
    lines = [line.split() for line in table.splitlines()]
    assert [line[-1] for line in lines] == ["ok"] * len(lines)
    assert ["uploads", "received", "2", "ok"] in lines
    assert ["read", "1", "ok"] in lines
    assert ["failed", "1", "ok"] in lines


def test_a_missing_file_is_named(upload):
    sha256 = upload.artefacts.get().sha256
    storage().remove(sha256)
    status, table = verified()
    assert status == 1
    assert f"{sha256} is missing" in table


def test_a_file_that_was_cut_or_changed_is_named(upload, files):
    sha256 = upload.artefacts.get().sha256
    path = files / sha256[:2] / sha256
    path.write_bytes(b"X" + path.read_bytes()[1:])
    assert verified()[0] == 0
    assert f"{sha256} has the SHA-256 " in verified("--hash")[1]
    path.write_bytes(b"cut")
    assert f"{sha256} has 3 bytes" in verified()[1]


def test_bytes_without_a_row_are_named_once_they_are_old(upload, files):
    sha256 = storage().put([b"nobody's"]).sha256
    assert verified()[0] == 0
    make_old(files)
    assert f"{sha256} has no row" in verified()[1]


def test_an_upload_without_result_or_reason_is_named(upload):
    Upload.objects.filter(pk=upload.pk).update(run=None)
    assert f"upload {upload.pk} was read and has no run" in verified()[1]
    Upload.objects.filter(pk=upload.pk).update(state=State.FAILED, reason="")
    assert f"upload {upload.pk} failed without a reason" in verified()[1]
    Upload.objects.filter(pk=upload.pk).update(state="lost")
    assert "1 in no known state" in verified()[1]


def test_an_upload_that_waits_for_days_is_named(upload):
    long_ago = time.time() - 3 * 24 * 3600
    Upload.objects.filter(pk=upload.pk).update(
        state=State.RECEIVED, received_at=datetime.fromtimestamp(long_ago, UTC)
    )
    assert f"upload {upload.pk} waits for too long" in verified()[1]


def test_what_is_not_removed_for_days_is_named(upload):
    run, workspace = Run.objects.get(), upload.workspace
    for days, is_named in ((31, False), (33, True)):
        Run.with_trash.update(trashed_at=timezone.now() - timedelta(days=days))
        status, table = verified()
        named = f"run {run.pk} of the trash is not removed yet" in table
        assert (named, status == 1) == (is_named, is_named)
    Run.with_trash.update(trashed_at=None)
    for days, is_named in ((1, False), (3, True)):
        Workspace.objects.filter(pk=workspace.pk).update(
            deleted_at=timezone.now() - timedelta(days=days)
        )
        status, table = verified()
        named = f"workspace {workspace.pk} was deleted and is not removed yet" in table
        assert (named, status == 1) == (is_named, is_named)


def test_each_line_says_what_it_counts(upload):
    """The same bytes twice, and bytes of an upload on its way: three counts that differ."""
    process(make_upload(make_tenant("other")).pk)
    storage().put([b"on its way"])
    lines = [line.split() for line in verified()[1].splitlines()]
    counts = {" ".join(line[:-2]): int(line[-2]) for line in lines}
    assert counts["artefacts of all uploads; equal ones count each time"] == 3
    assert counts["different artefacts, with their bytes"] == 2
    assert counts["stored files, with those of uploads on their way"] == 3
