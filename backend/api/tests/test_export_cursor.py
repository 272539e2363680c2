"""Whoever keeps the cursor of an export gets every run, in whatever order runs become complete."""

import uuid
from threading import Event, Thread

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client

from backend.ingest.removing.trash import restore_run, trash_run
from backend.runs.database.bulk import copy_rows
from backend.runs.models import Run, TrialTimeline
from backend.runs.recording import record as recording
from backend.runs.recording.record import RunInput, record_early, record_run
from backend.runs.recording.record_new import NewRun, record_new_runs
from backend.testing import scenes
from backend.testing.rows import let_a_minute_pass

pytestmark = pytest.mark.django_db


class Export:
    """What one client has got so far, asking each time for what is new."""

    def __init__(self, scene):
        self.api = Client(headers=scene.own.headers)
        self.cursor = ""

    def new_runs(self):
        """The runs that the next answer adds, each once, in their order."""
        answer = self.api.get("/api/v1/trials.csv", {"after": self.cursor})
        assert answer.status_code == 200
        self.cursor = answer.headers.get("Loadsheet-Next", self.cursor)
        head, *rows = answer.content.decode().split("\r\n")[:-1]
        at = head.split(",").index("run_id")
        return list(dict.fromkeys(uuid.UUID(row.split(",")[at]) for row in rows))


@pytest.fixture
def export(scene):
    let_a_minute_pass()
    export = Export(scene)
    assert export.new_runs() == [scene.run.pk]
    return export


def records(count):
    return [scenes._record(ordinal, "secret-server", 8, ordinal) for ordinal in range(count)]


def record(scene):
    return scenes.make_measured_run(scene.own.workspace).run_id


def test_a_run_comes_once_it_has_been_complete_for_a_minute(scene, export):
    run_id = record(scene)
    assert export.new_runs() == []
    let_a_minute_pass()
    assert export.new_runs() == [run_id]
    assert export.new_runs() == []


def test_runs_that_are_recorded_together_come_too(scene, export):
    inputs = [RunInput(id=uuid.uuid4(), workspace=scene.own.workspace) for _ in range(3)]
    record_new_runs(scene.own.workspace, [NewRun(each, records(2)) for each in inputs])
    assert export.new_runs() == []
    let_a_minute_pass()
    assert sorted(export.new_runs()) == sorted(each.id for each in inputs)


def test_a_run_that_was_open_comes_after_runs_that_were_complete_before(scene, export):
    long = RunInput(id=uuid.uuid4(), workspace=scene.own.workspace)
    record_early(long, records(1))
    let_a_minute_pass()
    short = record(scene)
    let_a_minute_pass()
    assert export.new_runs() == [short]
    record_run(long, records(3))
    assert export.new_runs() == []
    let_a_minute_pass()
    assert export.new_runs() == [long.id]


def test_a_complete_run_that_gets_late_trials_comes_again(scene, export):
    run_input = RunInput(id=uuid.uuid4(), workspace=scene.own.workspace)
    record_run(run_input, records(2))
    let_a_minute_pass()
    assert export.new_runs() == [run_input.id]
    # The same upload once more changes nothing that was exported.
    record_run(run_input, records(2))
    let_a_minute_pass()
    assert export.new_runs() == []
    record_early(run_input, records(1))
    let_a_minute_pass()
    assert export.new_runs() == [run_input.id]


def test_a_run_that_was_restored_from_the_trash_comes(scene, export):
    run = Run.objects.get(pk=record(scene))
    trash_run(run, by=None)
    later = record(scene)
    let_a_minute_pass()
    assert export.new_runs() == [later]
    restore_run(run)
    let_a_minute_pass()
    assert export.new_runs() == [run.pk]


@pytest.mark.django_db(transaction=True)
def test_a_run_that_was_written_first_and_committed_last_comes(scene, export, monkeypatch):
    has_written, may_commit = Event(), Event()

    def copy_and_wait(model, rows):
        copy_rows(model, rows)
        if model is TrialTimeline:
            has_written.set()
            assert may_commit.wait(60)

    def write_slowly():
        try:
            record(scene)
        finally:
            connection.close()

    monkeypatch.setattr(recording, "copy_rows", copy_and_wait)
    slow = Thread(target=write_slowly)
    slow.start()
    assert has_written.wait(60)
    monkeypatch.undo()
    quick = record(scene)
    assert export.new_runs() == []
    may_commit.set()
    slow.join()
    let_a_minute_pass()
    first, second = export.new_runs()
    assert second == quick
    assert Run.objects.filter(pk=first, completed_at__lt=Now()).exists()
    assert first not in (quick, scene.run.pk)
