"""Storage or database away while a worker reads: no attempt is lost, and it is tried again."""

import os
import shutil
import signal
from datetime import timedelta

import pytest
from django.conf import settings as live
from django.db import OperationalError, connection
from django.utils import timezone

from backend.ingest import process as processing
from backend.ingest import queue
from backend.ingest.models import State, Upload
from backend.ingest.process import process
from backend.ingest.sandbox import Sandbox, sandbox
from backend.ingest.storage import storage
from backend.testing.outages import database_away
from backend.testing.uploads import make_tenant, make_upload

AGO = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def _own_storage(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    yield
    storage.cache_clear()


@pytest.fixture
def upload(db):
    return make_upload(make_tenant())


def processed(upload):
    process(upload.pk)
    upload.refresh_from_db()
    return upload


def wait_out(upload):
    now = timezone.now()
    Upload.objects.filter(pk=upload.pk).update(retry_at=now - AGO)


def test_storage_away_for_long_is_waited_for_and_then_read(upload):
    root = storage().root
    away = root.rename(root.with_name("unmounted"))
    for times in range(1, 6):
        assert processed(upload).state == State.RECEIVED
        assert (upload.attempts, upload.faults) == (0, times)
        assert upload.reason.startswith("The storage was away (the folder ")
        assert queue.sweep() == 0  # it still waits
        assert queue.claim(upload.pk) is None
        wait_out(upload)
        assert queue.sweep() == 1
    away.rename(root)
    assert processed(upload).state == State.PARSED
    assert upload.reason == ""
    assert upload.attempts == 1


def test_pauses_grow_to_a_quarter_of_an_hour():
    seconds = [queue.pause_after(faults).total_seconds() for faults in (0, 1, 2, 5, 6, 5000)]
    assert seconds == [15, 30, 60, 480, 900, 900]


def test_a_volume_that_is_not_mounted_is_waited_for(upload):
    root = storage().root
    away = root.rename(root.with_name("unmounted"))
    root.mkdir()
    assert processed(upload).state == State.RECEIVED
    assert "Is the storage mounted?" in upload.reason
    root.rmdir()
    away.rename(root)
    wait_out(upload)
    assert processed(upload).state == State.PARSED


def test_a_file_that_stays_missing_is_lost(upload):
    shutil.rmtree(storage().root)
    storage().root.mkdir()
    Upload.objects.update(faults=processing.LOST_AFTER_FAULTS)
    assert processed(upload).state == State.FAILED
    assert upload.reason == "A stored file of this upload is missing."


def test_database_away_while_reading_is_no_attempt(upload, monkeypatch):
    def fault(*_, **__):
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(processing, "_ask", fault)
    assert processed(upload).state == State.RECEIVED
    assert (upload.attempts, upload.faults) == (0, 1)
    assert "The database was away (server closed the connection" in upload.reason


@pytest.mark.django_db(transaction=True)
def test_database_away_until_the_end_gives_the_attempt_back_later(monkeypatch):
    upload = make_upload(make_tenant())
    ask = processing._ask

    def fault(*_, **__):
        connection.cursor().execute("SELECT 1")

    monkeypatch.setattr(processing, "_ask", fault)
    with database_away_from(monkeypatch):
        process(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.attempts) == (State.PARSING, 1)
    monkeypatch.setattr(processing, "_ask", ask)
    assert queue.claim(upload.pk) is None  # given back now, to be read after its pause
    upload.refresh_from_db()
    assert (upload.state, upload.attempts, upload.faults) == (State.RECEIVED, 0, 1)
    assert "The database was away" in upload.reason
    wait_out(upload)
    assert processed(upload).state == State.PARSED


def database_away_from(monkeypatch):
    """The database goes away right after the claim."""
    read, away = processing._read_and_record, database_away()

    def go_away_first(held):
        away.__enter__()
        read(held)

    monkeypatch.setattr(processing, "_read_and_record", go_away_first)

    class UntilTheEnd:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            away.__exit__(*error)
            monkeypatch.setattr(processing, "_read_and_record", read)

    return UntilTheEnd()


def test_a_killed_parser_still_fails_the_upload(upload, monkeypatch):
    child = sandbox()._running_child()
    os.kill(child.pid, signal.SIGSTOP)  # so that it cannot answer before it dies
    monkeypatch.setattr(Sandbox, "_running_child", lambda _: child)
    os.kill(child.pid, signal.SIGKILL)
    assert processed(upload).state == State.FAILED
    assert "SIGKILL" in upload.reason
    assert upload.faults == 0


def test_a_file_the_child_cannot_read_is_a_fault_of_the_storage(upload, monkeypatch, tmp_path):
    import contextlib

    @contextlib.contextmanager
    def a_folder(sha256):
        yield tmp_path

    monkeypatch.setattr(storage(), "local_path", a_folder)
    assert processed(upload).state == State.RECEIVED
    assert "Is a directory" in upload.reason


def test_a_parser_that_cannot_be_started_is_no_attempt(upload, monkeypatch):
    def no_process(*_):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(Sandbox, "_running_child", no_process)
    assert processed(upload).state == State.RECEIVED
    assert upload.reason.startswith("The machine could not start the parser")
    assert upload.attempts < live.MAX_ATTEMPTS
