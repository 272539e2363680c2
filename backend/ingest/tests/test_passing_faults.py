"""Storage or database away while a worker reads: no attempt is lost, and it is tried again."""

import itertools
import os
import re
import shutil
import signal
import socket
import sys
from datetime import timedelta

import psycopg
import pytest
from django.conf import settings as live
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from backend.ingest import answers, deaths, queue, worker
from backend.ingest import sandbox as sandbox_module
from backend.ingest.faults import is_database_away, is_database_busy
from backend.ingest.models import State, Upload
from backend.ingest.sandbox import Sandbox, sandbox
from backend.ingest.storage import storage
from backend.ingest.worker import process
from backend.problems import answer_to
from backend.runs import record
from backend.testing.outages import database_away
from backend.testing.uploads import claim_next, make_tenant, make_upload

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
        assert claim_next() is None  # it still waits
        assert queue.claim_one(upload.pk) is None
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
    assert (answer_to(error) is not None) == (is_away or is_busy)


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
    check = record.check_trial

    def lose_session(figures):
        with socket.socket(fileno=os.dup(connection.connection.fileno())) as session:
            session.shutdown(socket.SHUT_RDWR)
        return check(figures)

    monkeypatch.setattr(record, "check_trial", lose_session)
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


@pytest.fixture
def killed_parser(monkeypatch):
    """Every parser is killed before it answers."""
    start = Sandbox._running_child

    def killed(box):
        child = start(box)
        os.kill(child.pid, signal.SIGSTOP)  # so that it cannot answer before it dies
        os.kill(child.pid, signal.SIGKILL)
        return child

    monkeypatch.setattr(Sandbox, "_running_child", killed)
    sandbox().close()
    yield lambda: monkeypatch.setattr(Sandbox, "_running_child", start)
    sandbox().close()


def test_a_parser_killed_from_outside_is_no_attempt(upload, killed_parser):
    for faults in range(1, 5):
        assert processed(upload).state == State.RECEIVED
        assert (upload.attempts, upload.faults) == (0, faults)
        wait_out(upload)
    assert "was ended (SIGKILL)" in upload.reason
    killed_parser()
    assert processed(upload).state == State.PARSED
    assert upload.attempts == 1


def test_a_parser_killed_from_outside_for_a_day_ends_with_the_memory_it_used(upload, killed_parser):
    processed(upload)
    a_day_later(upload)
    assert processed(upload).state == State.FAILED
    used, limit = memory_in(upload.reason)
    assert used > 0
    assert limit == live.PARSE_MEMORY_BYTES >> 20
    assert "for a day" in upload.reason


def test_a_parser_that_the_kernel_kills_for_memory_is_an_attempt(
    upload, killed_parser, monkeypatch
):
    counts = itertools.count()
    for module in (sandbox_module, deaths):
        monkeypatch.setattr(module, "count_memory_kills", lambda: next(counts))
    monkeypatch.setattr(Sandbox, "prepare", lambda *_: None)
    third_ends(upload)


def test_the_third_parser_killed_near_its_memory_limit_ends_the_upload(
    upload, killed_parser, monkeypatch, settings
):
    # What a child has used when it dies is more than half of this, and more than its parent had.
    settings.PARSE_MEMORY_BYTES = 2 << 20
    monkeypatch.setattr(deaths, "most_memory_bytes", lambda: 0)
    monkeypatch.setattr(Sandbox, "prepare", lambda *_: None)
    third_ends(upload)


def third_ends(upload):
    for attempt in (1, 2):
        assert processed(upload).state == State.RECEIVED
        assert (upload.attempts, upload.faults) == (attempt, 0)
        wait_out(upload)
    assert processed(upload).state == State.FAILED
    assert "killed for lack of memory" in upload.reason
    assert memory_in(upload.reason)[1] == live.PARSE_MEMORY_BYTES >> 20
    assert "3 times" in upload.reason


def memory_in(reason):
    used, limit = re.search(
        r"used (?:at most )?(\d+) MiB of memory, the limit is (\d+) MiB", reason
    ).groups()
    return int(used), int(limit)


def test_a_parser_that_dies_before_it_reads_is_no_attempt(upload, monkeypatch):
    """As where a library of the installation is broken."""
    broken = Sandbox([sys.executable, "-c", "raise SystemExit(3)"])
    monkeypatch.setattr(worker, "sandbox", lambda: broken)
    assert processed(upload).state == State.RECEIVED
    assert (upload.attempts, upload.faults) == (0, 1)
    assert "ended with status 3" in upload.reason


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
