"""Backups hold every artefact, and nothing that did not end is taken for one."""

import io
import os
import time
import uuid

import boto3
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from moto.server import ThreadedMotoServer

from backend.config.recovery import backup_bucket, backups
from backend.config.recovery.backups import (
    DUMP,
    backups_in,
    copy_artefacts,
    make_backup,
    restore_artefacts,
)
from backend.config.recovery.database_programs import RecoveryFailed
from backend.ingest.models import Artefact, Upload
from backend.storage import FileStorage, storage
from backend.testing.pooler import needs_session
from backend.testing.uploads import make_file, make_tenant

pytestmark = [pytest.mark.django_db(transaction=True), needs_session]
LARGE = b"a line of an output\n" * 10_000


@pytest.fixture(autouse=True)
def _own_storage(own_storage, small_files_as_files, settings, tmp_path):
    settings.DATA_DIR = tmp_path / "data"
    settings.BACKUP_DIR = ""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "backups"


@pytest.fixture
def artefact(client):
    """The bytes of a large output, which are a file; small ones are rows of the database."""
    tenant = make_tenant()
    answer = client.post("/api/v1/uploads", {"file": make_file(LARGE)}, headers=tenant.headers)
    assert answer.status_code == 202
    return Artefact.objects.get(upload=answer.json()["id"])


def run(*arguments):
    out = io.StringIO()
    call_command("backup", *arguments, stdout=out)
    return out.getvalue()


def test_lost_bytes_are_put_back_from_the_backup(artefact, folder):
    assert "Copied 1 artefacts" in run(str(folder))
    assert "Copied 0 artefacts" in run(str(folder))
    storage().remove(artefact.sha256)

    assert restore_artefacts(folder) == 1

    with storage().open(artefact.sha256) as content:
        assert content.read() == LARGE


def test_damaged_bytes_fail_the_backup(artefact, folder):
    with storage().local_path(artefact.sha256) as path:
        path.write_bytes(LARGE[:-1])

    with pytest.raises(CommandError, match=f"the artefact {artefact.sha256} has the SHA-256"):
        run(str(folder))
    assert list(FileStorage(folder / "artefacts").list()) == []


def test_missing_bytes_fail_the_backup(artefact, folder):
    storage().remove(artefact.sha256)
    with pytest.raises(CommandError, match="are missing"):
        run(str(folder))


def test_bytes_that_were_removed_for_their_age_are_not_missed(artefact, folder):
    storage().remove(artefact.sha256)
    Upload.objects.update(raw_removed_at=timezone.now(), raw_kept_days=1)
    assert "Copied 0 artefacts" in run(str(folder))


def test_what_did_not_end_is_no_backup(artefact, folder, monkeypatch):
    def fail(*_):
        raise RecoveryFailed("the disk is full")

    monkeypatch.setattr(backups, "dump_database", fail)
    with pytest.raises(CommandError, match="The backup failed: the disk is full"):
        run(str(folder))
    assert list(folder.iterdir()) == []

    (folder / "2026-01-31T12-00-00Z.partial").mkdir()
    assert backups_in(folder) == []


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(CommandError, match="is no backup"):
        call_command("restore", str(tmp_path), "--replace")


def test_copies_of_deleted_artefacts_go_with_the_old_backups(artefact, folder):
    run(str(folder))
    copies = FileStorage(folder / "artefacts")
    with copies.local_path(artefact.sha256) as copy:
        old_s = time.time() - 31 * 24 * 3600
        os.utime(copy, (old_s, old_s))
    # A row names it still.
    run(str(folder))
    assert copies.has(artefact.sha256)

    with copies.local_path(artefact.sha256) as copy:
        os.utime(copy, (old_s, old_s))
    artefact.delete()
    run(str(folder))
    assert not copies.has(artefact.sha256)


def test_a_folder_must_be_named(folder, settings):
    with pytest.raises(CommandError, match="set BACKUP_DIR"):
        run()
    settings.BACKUP_DIR = str(folder)
    assert "Backed up to" in run()
    with pytest.raises(CommandError, match="expected at least 1"):
        run("--keep-days", "0")


def test_a_backup_says_what_it_is(artefact, folder):
    made = make_backup(folder, kind=DUMP)
    assert backups_in(folder) == [made]
    assert made.content.stat().st_size > 1000
    assert copy_artefacts(folder) == 1


@pytest.fixture(scope="module")
def s3_server():
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3_server, settings, monkeypatch, folder):
    """The client of a bucket that gets a copy of the folder."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    settings.S3_ENDPOINT_URL = s3_server
    settings.BACKUP_BUCKET, settings.BACKUP_DIR = f"backups-{uuid.uuid4()}", str(folder)
    client = boto3.client("s3", endpoint_url=s3_server)
    client.create_bucket(Bucket=settings.BACKUP_BUCKET)
    return client


def files_of(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in _files(folder)}


def _files(folder):
    return [file for file in folder.rglob("*") if file.is_file()]


def test_a_lost_folder_comes_back_from_the_bucket(artefact, folder, bucket, tmp_path):
    assert "files (" in run("--keep-days", "7")
    (folder / "wal").mkdir()
    (folder / "wal" / ("0" * 23 + "1")).write_bytes(b"whole")
    (folder / "wal" / "archtemp.half").write_bytes(b"ha")
    backup_bucket.push_wal()

    pulled = tmp_path / "pulled"
    call_command("pull_backups", str(pulled), stdout=io.StringIO())

    whole = files_of(folder)
    del whole["wal/archtemp.half"]
    assert files_of(pulled) == whole
    assert backup_bucket.pull(pulled).files == 0
    assert backups_in(pulled)[0].content.exists()


def test_the_bucket_loses_what_the_folder_lost_but_not_with_the_disk(artefact, folder, bucket):
    run()
    before = len(list(backup_bucket._keys()))
    FileStorage(folder / "artefacts").remove(artefact.sha256)
    assert backup_bucket.push(folder, is_mirrored=True).removed == 1

    empty = folder.with_name("empty")
    empty.mkdir()
    assert backup_bucket.push(empty, is_mirrored=True).removed == 0
    assert len(list(backup_bucket._keys())) == before - 1


def test_a_file_that_cannot_be_read_holds_up_no_other(folder, bucket, monkeypatch, caplog):
    (folder / "wal").mkdir(parents=True)
    first, second = (folder / "wal" / ("0" * 23 + digit) for digit in "12")
    described = folder / "wal" / "a-backup.json"
    for file in (first, second, described):
        file.write_bytes(b"whole")
    try_ = backup_bucket._try

    def refuse_the_first(call, *args, **options):
        if args[:1] == (str(first),):
            raise PermissionError(13, "Permission denied")
        return try_(call, *args, **options)

    monkeypatch.setattr(backup_bucket, "_try", refuse_the_first)
    backup_bucket.push_wal()
    # Without its description, what was copied of a backup is taken for none.
    assert [name for name, _ in backup_bucket._keys()] == [f"wal/{second.name}"]
    assert {"backup_file_not_read", "wal_not_copied"} <= set(caplog.messages)
    monkeypatch.setattr(backup_bucket, "_try", try_)
    assert backup_bucket.push(folder).files == 2


def test_a_bucket_that_is_away_fails_the_copy_and_no_archive(artefact, bucket, settings, caplog):
    settings.BACKUP_BUCKET = "no-such-bucket"
    with pytest.raises(CommandError, match="The backup failed: the bucket no-such-bucket"):
        run()
    backup_bucket.push_wal()
    assert "wal_not_copied" in caplog.messages


def test_a_name_that_leads_out_of_the_folder_is_refused(bucket, folder, settings):
    bucket.put_object(Bucket=settings.BACKUP_BUCKET, Key="../elsewhere", Body=b"x")
    with pytest.raises(RecoveryFailed, match="no file of a backup"):
        backup_bucket.pull(folder)
