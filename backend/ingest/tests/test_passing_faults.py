"""Storage or database away while a worker reads: no attempt is lost, and it is tried again."""

import os
import shutil
import socket
import sys
from datetime import timedelta

import psycopg
import pytest
from django.conf import settings as live
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from backend.database_faults import is_database_away, is_database_busy
from backend.ingest.models import State, Upload
from backend.ingest.queue import queue, watching, worker
from backend.ingest.queue.worker import process
from backend.ingest.reading import answers
from backend.problems import answer_to
from backend.runs.recording import trial_row
from backend.storage import storage
from backend.testing.outages import database_away
from backend.testing.uploads import make_tenant, make_upload
from backend.untrusted.sandbox.sandbox import Sandbox

AGO = timedelta(seconds=1)

pytestmark = pytest.mark.usefixtures("own_storage", "small_files_as_files")


@pytest.fixture
def upload(db):
    return make_upload(make_tenant())


def processed(upload):
    process(upload.pk)
    upload.refresh_from_db()
    return upload


def a_day_later(upload):
    Upload.objects.filter(pk=upload.pk).update(faults=queue.faults_of_a_day())
    wait_out(upload)


def wait_out(upload):
    now = timezone.now()
    Upload.objects.filter(pk=upload.pk).update(retry_at=now - AGO)


def test_storage_away_for_long_is_waited_for_and_then_read(upload):
    root = storage().root
    away = root.rename(root.with_name("unmounted"))
    for times in range(1, 6):
        assert processed(upload).state == State.RECEIVED
        assert (upload.attempts, upload.faults) == (0, times)
        assert upload.reason.startswith("The storage was not available (the folder ")
        assert queue.claim_one(upload.pk) is None  # it still waits
        wait_out(upload)
    away.rename(root)
    assert processed(upload).state == State.PARSED
    assert upload.reason == ""
    assert upload.attempts == 1


def test_pauses_grow_to_a_quarter_of_an_hour():
    pauses_s = [queue.pause_s_after(faults) for faults in (0, 1, 2, 7, 8, 5000)]
    assert pauses_s == [5, 10, 20, 640, 900, 900]


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


def test_a_file_that_stays_missing_for_a_day_is_lost(upload):
    shutil.rmtree(storage().root)
    storage().root.mkdir()
    assert processed(upload).state == State.RECEIVED
    a_day_later(upload)
    assert processed(upload).state == State.FAILED
    assert upload.reason.startswith("A stored file of this upload is missing.")


def test_passing_faults_end_after_a_day_with_their_reason(upload):
    storage().root.rename(storage().root.with_name("unmounted"))
    assert processed(upload).state == State.RECEIVED
    a_day_later(upload)
    assert processed(upload).state == State.FAILED
    assert "The storage was not available (the folder " in upload.reason
    assert "for a day" in upload.reason


@pytest.mark.parametrize(
    ("sqlstate", "is_away", "is_busy"),
    [
        *[(sqlstate, True, False) for sqlstate in ("08006", "57P01", "57P03", "25P03")],
        *[(sqlstate, True, False) for sqlstate in ("53300", "53100", "53200", "58030")],
        *[(sqlstate, False, True) for sqlstate in ("40001", "40P01", "55P03", "57014")],
        *[(sqlstate, False, False) for sqlstate in ("22003", "23505", "42P01", "57000")],
    ],
)
def test_only_a_database_that_serves_nobody_is_away(sqlstate, is_away, is_busy):
    error = OperationalError("words")
    error.__cause__ = psycopg.errors.lookup(sqlstate)("words")
    assert (is_database_away(error), is_database_busy(error)) == (is_away, is_busy)
    # A request that met either is answered with 503, and may be sent again.
    answer = answer_to(error)
    assert (answer is not None and answer.status == 503) == (is_away or is_busy)
    # Only a database that serves nobody is called away.
    assert (answer is not None and answer.title == "Database away") == is_away


def test_a_statement_that_is_ended_for_its_time_is_an_attempt(upload, monkeypatch):
    def fault(*_, **__):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 1")
            cursor.execute("SELECT pg_sleep(5)")

    monkeypatch.setattr(answers, "ask_parser", fault)
    for attempt in (1, 2):
        assert processed(upload).state == State.RECEIVED
        assert (upload.attempts, upload.faults) == (attempt, 0)
        wait_out(upload)
    assert processed(upload).state == State.QUARANTINED
    assert (
        "The database did not finish writing this upload (canceling statement due to statement "
        "timeout" in upload.reason
    )


def test_a_statement_that_cannot_be_sent_is_no_passing_fault(upload, monkeypatch):
    def too_many_parameters(*_, **__):
        Upload.objects.filter(attempts__in=range(70_000)).exists()

    monkeypatch.setattr(answers, "ask_parser", too_many_parameters)
    for attempt in (1, 2):
        assert processed(upload).state == State.RECEIVED
        assert (upload.attempts, upload.faults) == (attempt, 0)
        wait_out(upload)
    assert processed(upload).state == State.QUARANTINED
    assert "OperationalError" in upload.reason


@pytest.mark.django_db(transaction=True)
def test_database_away_until_the_end_gives_the_attempt_back_later(monkeypatch):
    upload = make_upload(make_tenant())
    ask = answers.ask_parser

    def fault(*_, **__):
        connection.cursor().execute("SELECT 1")

    monkeypatch.setattr(answers, "ask_parser", fault)
    with database_away_from(monkeypatch):
        process(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.attempts) == (State.PARSING, 1)
    monkeypatch.setattr(answers, "ask_parser", ask)
    assert queue.claim_one(upload.pk) is None  # given back now, to be read after its pause
    upload.refresh_from_db()
    assert (upload.state, upload.attempts, upload.faults) == (State.RECEIVED, 0, 1)
    assert "The database was not available" in upload.reason
    wait_out(upload)
    assert processed(upload).state == State.PARSED


@pytest.mark.django_db(transaction=True)
def test_a_session_lost_while_recording_is_no_attempt(monkeypatch):
    """As where PostgreSQL is killed and runs again at once: nobody says why the session ended."""
    upload = make_upload(make_tenant())
    check = trial_row.check_trial

    def lose_session(figures):
        with socket.socket(fileno=os.dup(connection.connection.fileno())) as session:
            session.shutdown(socket.SHUT_RDWR)
        return check(figures)

    monkeypatch.setattr(trial_row, "check_trial", lose_session)
    assert processed(upload).state == State.RECEIVED
    assert (upload.attempts, upload.faults) == (0, 1)
    assert "The database was not available" in upload.reason
    monkeypatch.undo()
    wait_out(upload)
    assert processed(upload).state == State.PARSED


def database_away_from(monkeypatch):
    """The database goes away right after the claim."""
    read, away = worker.read_and_record, database_away()

    def go_away_first(held, **options):
        away.__enter__()
        read(held, **options)

    monkeypatch.setattr(worker, "read_and_record", go_away_first)

    class UntilTheEnd:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            away.__exit__(*error)
            monkeypatch.setattr(worker, "read_and_record", read)

    return UntilTheEnd()


def test_a_parser_that_dies_before_it_reads_is_no_attempt(upload, monkeypatch):
    """As where a library of the installation is broken."""
    broken = Sandbox([sys.executable, "-c", "raise SystemExit(3)"])
    monkeypatch.setattr(watching, "sandbox", lambda: broken)
    assert processed(upload).state == State.RECEIVED
    assert (upload.attempts, upload.faults) == (0, 1)
    assert "The parser ended with status 3, before it read this upload." in upload.reason


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
