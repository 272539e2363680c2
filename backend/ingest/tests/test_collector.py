"""Bytes that nothing names are removed, and never those of an upload on its way."""

import hashlib
import io
import os
import threading
import time
import uuid

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from backend.ingest.models import Artefact, Part, Upload
from backend.ingest.queue.worker import process
from backend.ingest.receiving import insert
from backend.ingest.removing import collector
from backend.ingest.removing.collector import collect, remove_unnamed
from backend.ingest.removing.removal import remove_run
from backend.runs.models import Host, Run, Server, Workload
from backend.storage import StorageAway, storage
from backend.storage.files import FileStorage
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_upload

A_WEEK_S = 7 * 24 * 3600.0


@pytest.fixture(autouse=True)
def files(settings, tmp_path, small_files_as_files):
    """A storage of this test's own, in files."""
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    yield tmp_path / "artefacts"
    storage.cache_clear()


@pytest.fixture
def tenant(db):
    return make_tenant()


def make_old(folder):
    """Everything in the folder was written a week ago."""
    then = time.time() - A_WEEK_S
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (then, then))


def counts(figures):
    return {each.kind: each.count for each in figures}


def test_old_leftovers_of_every_kind_are_removed_and_the_rest_stays(tenant, files, settings):
    upload = make_upload(tenant)
    orphan = storage().put([b"of a refused upload"])
    storage().put_part(str(uuid.uuid4()), [b"without a row"])
    (files / "incoming-abc").write_bytes(b"killed in the middle")
    expired = Part.objects.create(
        workspace=tenant.workspace, upload_id=uuid.uuid4(), artefact_sha256="0" * 64, number=0
    )
    storage().put_part(str(expired.pk), [b"its upload never came"])
    make_old(files)
    storage().put([b"of an upload on its way"])
    settings.PARTS_KEPT_S = -1
    expected = {
        "artefacts without a row": 1,
        "parts without a row": 1,
        "expired parts": 1,
        "unfinished files": 1,
    }
    assert counts(collect(is_dry_run=True)) == expected
    assert storage().has(orphan.sha256)
    assert counts(collect()) == expected
    assert not storage().has(orphan.sha256)
    assert storage().has(upload.artefacts.get().sha256)
    kept = [path for path in files.rglob("*") if path.is_file()]
    assert len(kept) == 2
    assert not Part.objects.exists()


def refused_by_the_disk(place):
    """A leftover that cannot be removed: its place is a folder."""
    place.mkdir(parents=True)
    os.utime(place, (time.time() - A_WEEK_S,) * 2)


def test_a_leftover_that_cannot_be_removed_holds_up_no_other(tenant, files, caplog):
    orphan = storage().put([b"of a refused upload"])
    part = str(uuid.uuid4())
    storage().put_part(part, [b"without a row"])
    make_old(files)
    first = {"artefact": "0" * 64, "part": str(uuid.UUID(int=0)), "unfinished": "incoming-0"}
    refused_by_the_disk(files / "00" / first["artefact"])
    refused_by_the_disk(files / "parts" / first["part"])
    refused_by_the_disk(files / first["unfinished"])
    expired = Part.objects.create(
        workspace=tenant.workspace, upload_id=uuid.uuid4(), artefact_sha256="0" * 64, number=0
    )
    Part.objects.update(begun_at="2020-01-01T00:00Z")
    assert counts(collect())["artefacts without a row"] == 1
    assert not storage().has(orphan.sha256)
    assert not (files / "parts" / part).exists()
    assert not Part.objects.filter(pk=expired.pk).exists()
    assert caplog.messages.count("bytes_not_removed") == 3


def test_a_storage_that_refuses_everything_is_asked_a_few_times(tenant, files, monkeypatch):
    for number in range(9):
        storage().put([b"%d" % number])
    make_old(files)
    asked = []

    def remove(_, sha256):
        asked.append(sha256)
        raise StorageAway("unplugged")

    monkeypatch.setattr(FileStorage, "remove", remove)
    with pytest.raises(StorageAway, match="unplugged"):
        collect()
    assert len(asked) == collector.MOST_REFUSED


def test_a_database_that_names_almost_nothing_stops_the_collection(tenant, files, monkeypatch):
    monkeypatch.setattr(collector, "FEW", 2)
    make_upload(tenant)
    for number in range(3):
        storage().put([b"%d" % number])
    make_old(files)
    with pytest.raises(CommandError, match="3 of 4 stored artefacts have no row"):
        call_command("collect")
    call_command("collect", "--force", stdout=(out := io.StringIO()))
    assert "3  artefacts without a row" in out.getvalue()
    assert Artefact.objects.filter(sha256=hashlib.sha256(WRK.encode()).hexdigest()).exists()


@pytest.mark.django_db(transaction=True)
def test_deleting_a_run_removes_its_bytes_and_names_but_shared_bytes_stay(client):
    tenant = make_tenant()
    run_of(tenant, WRK, WRK.replace("18000", "19000"))
    kept = run_of(tenant, WRK, server="kept")
    own, shared = (hashlib.sha256(text.encode()).hexdigest() for text in texts())
    assert storage().has(own)
    remove_run(Run.objects.exclude(pk=kept.pk).get())
    assert not storage().has(own)
    assert storage().has(shared)
    assert [server.name for server in Server.objects.all()] == ["kept"]
    remove_run(kept)
    assert not storage().has(shared)
    assert not any(model.objects.exists() for model in (Upload, Server, Workload, Host))


def texts():
    return WRK.replace("18000", "19000"), WRK


def run_of(tenant, *files, server="hello"):
    envelope = make_envelope(len(files))
    for trial in envelope["trials"]:
        trial["server"]["name"] = server
    upload = make_upload(tenant, *files, envelope=envelope)
    process(upload.pk)
    return Run.objects.get(pk=upload.pk)


def test_bytes_collected_before_the_row_refuse_the_upload(tenant, monkeypatch):
    """Sent again, the upload stores its bytes again."""
    write = insert.insert_once

    def collected_first(upload, artefacts, contents):
        remove_unnamed([artefact.sha256 for artefact in artefacts])
        return write(upload, artefacts, contents)

    monkeypatch.setattr("backend.ingest.receiving.receive.insert_once", collected_first)
    with pytest.raises(StorageAway, match="collected"):
        make_upload(tenant)
    assert not Upload.objects.exists()
    monkeypatch.setattr("backend.ingest.receiving.receive.insert_once", write)
    upload = make_upload(tenant)
    assert storage().has(upload.artefacts.get().sha256)


@pytest.mark.django_db(transaction=True)
def test_the_collector_waits_for_rows_that_are_being_written():
    """Between an upload's look at its bytes and its commit nothing is removed."""
    tenant = make_tenant()
    sha256 = storage().put([b"on its way"]).sha256
    upload = Upload(workspace=tenant.workspace, content_sha256="0" * 64)
    artefact = Artefact(upload=upload, position=0, name="a", sha256=sha256, size_bytes=10)
    removed = []

    def remove():
        removed.extend(remove_unnamed([sha256]))
        connection.close()

    thread = threading.Thread(target=remove)
    with transaction.atomic():
        assert insert.insert_once(upload, [artefact], {})
        thread.start()
        while not is_collector_waiting():
            assert thread.is_alive()
            time.sleep(0.01)
    thread.join()
    assert removed == []
    assert storage().has(sha256)


def is_collector_waiting():
    with connection.cursor() as cursor:
        # Those of other databases are of other processes of the tests.
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database "
            "WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted"
        )
        return cursor.fetchone()[0] > 0


@pytest.mark.django_db(transaction=True)
def test_uploads_and_collections_at_once_leave_every_row_its_bytes():
    """The same bytes are sent, deleted and collected by two threads, until enough are accepted."""
    tenant = make_tenant()
    sha256 = hashlib.sha256(WRK.encode()).hexdigest()
    ends = threading.Event()

    def collect_all_the_time():
        while not ends.wait(0.002):
            remove_unnamed([sha256])
        connection.close()

    thread = threading.Thread(target=collect_all_the_time)
    thread.start()
    accepted = 0
    try:
        for _ in range(2000):
            if accepted == 20:
                break
            try:
                upload = make_upload(tenant)
            except StorageAway:
                continue
            accepted += 1
            assert storage().has(sha256)
            upload.delete()
    finally:
        ends.set()
        thread.join()
    assert accepted == 20
