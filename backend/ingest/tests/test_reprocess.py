"""Reading again exchanges a result whole, keeps its ids, and says what changed."""

import io
import signal
import threading

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from backend.ingest.models import State
from backend.ingest.queue.worker import process
from backend.ingest.reading import answers
from backend.ingest.reprocessing import reprocess as reprocessing
from backend.ingest.reprocessing.reprocess import NotEnded, outdated, reprocess
from backend.runs.database.read_router import repeatable_read
from backend.runs.models import Cell, Trial
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_upload
from backend.untrusted.sandbox.deaths import Death
from backend.untrusted.sandbox.parser_failures import ChildEnded, failure_of
from backend.untrusted.sandbox.sandbox import current_limits

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_files_as_files")]


@pytest.fixture
def upload():
    return ended(make_upload(make_tenant(), WRK, WRK, envelope=make_envelope(2)))


def ended(upload):
    process(upload.pk)
    upload.refresh_from_db()
    return upload


@pytest.fixture
def newer_parser(monkeypatch):
    """A parser of version next that reads 17000 where the one of now reads 18000."""

    def read(artefacts, **options):
        answer = ask(artefacts, **options)
        for entry in answer["entries"]:
            entry["trial"]["parsed"]["requests_completed"] = 17_000
        return {**answer, "version": "next"}

    ask = answers.ask_parser
    monkeypatch.setattr(answers, "ask_parser", read)
    monkeypatch.setattr(reprocessing, "PARSER_VERSION", "next")


def test_the_result_is_exchanged_and_the_change_is_told(upload, newer_parser):
    before = {trial.ordinal: trial.pk for trial in Trial.objects.filter(run=upload.run)}
    cells = set(Cell.objects.filter(run=upload.run).values_list("pk", flat=True))
    rereading = reprocess(upload.pk)
    trials = Trial.objects.filter(run_id=upload.run_id)
    assert {trial.ordinal: trial.pk for trial in trials} == before
    assert cells.isdisjoint(Cell.objects.filter(run=upload.run).values_list("pk", flat=True))
    assert {trial.requests_completed for trial in trials} == {17_000}
    assert all(trial.artefacts.count() == 1 for trial in trials)
    assert {"ordinal": 0, "figure": "requests_completed", "before": 18_000, "after": 17_000} in (
        rereading.changes
    )
    assert {change["figure"] for change in rereading.changes} >= {"throughput_rps"}
    upload.refresh_from_db()
    assert (upload.parser_version, rereading.to_version) == ("next", "next")


def test_the_same_parser_changes_nothing(upload):
    assert reprocess(upload.pk).changes == []


def test_a_refusal_leaves_the_old_reading(upload, monkeypatch):
    monkeypatch.setattr(answers, "ask_parser", lambda *_, **__: {"refused": "No tool's output."})
    rereading = reprocess(upload.pk)
    assert rereading.refused == "Trial 0: No tool's output."
    assert Trial.objects.filter(run_id=upload.run_id).count() == 2


DEATHS = {
    "memory runs out": Death(-signal.SIGKILL, 2 << 30),
    "CPU time": Death(-signal.SIGXCPU, 80 << 20),
    "crashed": Death(-signal.SIGSEGV, 80 << 20),
}


@pytest.fixture
def end_parser(monkeypatch):
    """Makes each reading end as a parser does that dies so."""

    def end_parser(death):
        def read(*_, **__):
            raise failure_of(ChildEnded(death), current_limits())

        monkeypatch.setattr(answers, "ask_parser", read)

    return end_parser


@pytest.mark.parametrize(("word", "death"), DEATHS.items())
def test_a_parser_that_died_is_no_refusal(client, upload, end_parser, word, death):
    before = list(Trial.objects.values())
    version = upload.parser_version
    end_parser(death)
    out = io.StringIO()

    with pytest.raises(SystemExit):
        call_command("reprocess", str(upload.pk), stdout=out)

    rereading = upload.rereadings.get()
    assert (rereading.refused, rereading.changes) == ("", [])
    assert word in rereading.stopped
    assert f"stopped, the old figures stay: {rereading.stopped}" in out.getvalue()
    assert list(Trial.objects.values()) == before
    upload.refresh_from_db()
    assert (upload.state, upload.parser_version) == (State.PARSED, version)
    client.force_login(upload.author)
    page = client.get(f"/r/{upload.run_id}").content.decode()
    assert "the parser was stopped, the earlier figures stay" in page
    assert word in page


def test_a_first_reading_whose_parser_was_killed_is_left_to_the_workers(monkeypatch, end_parser):
    monkeypatch.setattr(answers, "ask_parser", lambda *_, **__: {"refused": "Not read yet."})
    upload = ended(make_upload(make_tenant()))
    end_parser(DEATHS["memory runs out"])
    out = io.StringIO()

    call_command("reprocess", str(upload.pk), stdout=out)

    assert "0 refused, 0 stopped, 1 left to the workers" in out.getvalue()
    assert not upload.rereadings.exists()
    upload.refresh_from_db()
    assert upload.state == State.RECEIVED


def test_a_fault_in_the_middle_leaves_the_old_reading(upload, newer_parser, monkeypatch):
    def fail(*_):
        raise RuntimeError("the database went away")

    monkeypatch.setattr(reprocessing, "link_artefacts", fail)
    with pytest.raises(RuntimeError):
        reprocess(upload.pk)
    trials = Trial.objects.filter(run_id=upload.run_id)
    assert {trial.requests_completed for trial in trials} == {18_000}
    assert not upload.rereadings.exists()


def test_what_could_not_be_read_becomes_a_run(monkeypatch):
    ask = answers.ask_parser
    monkeypatch.setattr(answers, "ask_parser", lambda *_, **__: {"refused": "Not read yet."})
    upload = ended(make_upload(make_tenant()))
    assert upload.state == State.FAILED
    monkeypatch.setattr(answers, "ask_parser", ask)
    rereading = reprocess(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, rereading.refused) == (State.PARSED, "")
    assert rereading.changes == [
        {"ordinal": 0, "figure": "trial", "before": None, "after": "present"}
    ]


def test_an_upload_that_waits_for_its_first_reading_is_left_alone():
    with pytest.raises(NotEnded):
        reprocess(make_upload(make_tenant()).pk)


def test_only_readings_of_another_parser_are_outdated(upload, newer_parser):
    assert [row.pk for row in outdated()] == [upload.pk]
    reprocess(upload.pk)
    assert not outdated().exists()


def test_the_command_says_what_it_did(upload, newer_parser):
    out = io.StringIO()
    call_command("reprocess", stdout=out)
    assert "trial 0 requests_completed: 18000 → 17000" in out.getvalue()
    assert "1 uploads: 1 changed, 0 unchanged, 0 refused, 0 stopped" in out.getvalue()


def test_the_command_names_an_unknown_upload():
    with pytest.raises(CommandError, match="There is no upload"):
        call_command("reprocess", "3f2b0e1e-6f5c-4b39-8d7a-0d9d9c9f8b11", stdout=io.StringIO())


@pytest.mark.django_db(transaction=True)
def test_a_reader_sees_the_old_result_or_the_new_one_and_never_both(upload, newer_parser):
    with repeatable_read():
        first = Trial.objects.get(run=upload.run, ordinal=0).requests_completed
        thread = threading.Thread(target=lambda: (reprocess(upload.pk), connection.close()))
        thread.start()
        thread.join()
        second = Trial.objects.get(run=upload.run, ordinal=1).requests_completed
    assert first == second
    assert Trial.objects.get(run=upload.run, ordinal=1).requests_completed != second
