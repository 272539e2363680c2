"""No query of several runs reads the columns that may hold megabytes of each."""

import re
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from backend.alerts.models import Alert
from backend.ingest.queue.worker import process
from backend.ingest.removing.purging import purge_deleted_workspaces
from backend.ingest.removing.trash import remove_expired_runs
from backend.runs.models import Run
from backend.runs.tables.large_columns import large_columns
from backend.sharing.models import SharedRun, Visibility
from backend.sharing.workspace_deletion import delete_workspace
from backend.testing.transactions import taken_back
from backend.testing.uploads import make_envelope, make_upload
from backend.untrusted.limits import LABELS_BYTES, NOTES_LENGTH, PLAN_LENGTH, TEXT_LENGTH
from backend.web.tests.access_rows import ROWS
from backend.web.tests.access_statuses import Row
from backend.web.tests.every_answer import every_request
from backend.web.tests.test_access import ask, body_of, ids_of

pytestmark = pytest.mark.django_db
# A column itself, not a part of the JSON in it; a second join of the table is named T5 or so.
READ = re.compile(rf'"?(?:runs_run|T\d+)"?\."(?:{"|".join(large_columns())})"(?=,| AS | FROM )')
OF_ONE_RUN = re.compile(r'"runs_run"\."id" = %s|"\w+"\."run_id" = %s|LIMIT (?:1|21)\b')
# Beside every route: what its row in access_rows.py does not ask for.
MORE = {
    "explored runs": Row("/explore?kind=runs", {}),
    "explored runs of the API": Row("/api/v1/explore?kind=runs", {}),
    "session": Row("/w/own-lab/sessions/pair", {}),
    "feed": Row("/w/own-lab/feed.atom", {}),
    "gate": Row("/api/v1/gate?candidate=run%3D{run}&baseline=version%3D1&require=p99+<+5%25", {}),
    "trash": Row("/api/v1/trash", {}),
    "alerts": Row("/api/v1/alerts?workspace=own-lab", {}),
    "ticked": Row(
        "/w/own-lab/runs/ticked", {}, "post", {"action": "label", "label": "a", "run": "{run}"}
    ),
}
SMALL = {"labels", "notes", "agent", "session", "stopped"}
# What labels and notes may have of them, in characters of up to four bytes.
SMALL_BYTES = 64 << 10
MIB = "x" * (1 << 20)
# Compute runs again, few at a time, from all that was read of them.
COMPUTE_AGAIN = {("undo-merge", "post"), ("merge", "delete")}


@contextmanager
def whole_runs():
    """The statements inside that read large columns of more than one run."""
    read = []

    def look(execute, sql, params, many, context):
        if sql.startswith("SELECT") and READ.search(sql) and not OF_ONE_RUN.search(sql):
            read.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(look):
        yield read


@pytest.fixture
def ids(scene):
    ids = ids_of(scene)
    Run.objects.filter(pk=scene.run.pk).update(session={"name": "pair", "parts": 2})
    SharedRun.objects.update_or_create(run=scene.run, defaults={"visibility": Visibility.PUBLIC})
    return ids


def test_all_runs_are_whole_runs():
    with whole_runs() as read:
        assert list(Run.objects.all()) == []
    assert len(read) == 1
    with whole_runs() as read:
        assert Run.objects.first() is None
        assert list(Run.objects.defer(*large_columns())) == []
    assert read == []


def test_large_columns_are_those_of_texts_and_documents():
    """A new one is named, or is known to be small."""
    kinds = {"TextField", "JSONField"}
    large = {field.name for field in Run._meta.fields if field.get_internal_type() in kinds}
    assert large - SMALL == set(large_columns())


def fullest_envelope():
    """An envelope that says as much as it may of everything, and has members nobody knows."""
    unknown = {"unknown": MIB}
    labels = {f"label {number}": "x" * (TEXT_LENGTH - 100) for number in range(10)}
    assert len(str(labels)) < LABELS_BYTES
    run = {
        "plan": "x" * PLAN_LENGTH,
        "notes": "😀" * NOTES_LENGTH,
        "stopped": "x" * TEXT_LENGTH,
        "session": {"name": "x" * 100, "parts": 2, **unknown},
        "labels": labels,
    }
    agent = {**dict.fromkeys(("name", "version", "hostname"), "x" * 200), **unknown}
    return make_envelope(1, run={**run, **unknown}, agent=agent)


@pytest.mark.usefixtures("own_storage")
def test_no_upload_fills_a_column_that_is_known_to_be_small(scene):
    upload = make_upload(scene.own, envelope=fullest_envelope())
    process(upload.pk)
    run = Run.objects.get(pk=upload.pk)
    sizes = {name: len(str(getattr(run, name)).encode()) for name in SMALL}
    assert {name for name, size in sizes.items() if size > SMALL_BYTES} == set()
    assert len(run.notes) == NOTES_LENGTH
    assert run.session == {"name": "x" * 100, "parts": 2}


@pytest.mark.parametrize(
    ("stored", "cut"),
    [
        ({"name": "pair", "parts": 2, "unknown": MIB}, {"name": "pair", "parts": 2}),
        ({"name": "pair", "parts": None}, {"name": "pair"}),
        ({"name": MIB, "parts": "2"}, {}),
        ({"name": "pair", "parts": 2}, {"name": "pair", "parts": 2}),
    ],
)
def test_stored_sessions_are_cut(scene, stored, cut):
    Run.objects.filter(pk=scene.run.pk).update(session=stored, trashed_at="2026-01-01T00:00Z")
    migration = import_module("backend.runs.migrations.0028_session_members")
    for _ in range(2):
        migration.cut_sessions(apps, SimpleNamespace(connection=connection))
        assert Run.with_trash.get(pk=scene.run.pk).session == cut


def test_no_answer_reads_whole_runs(owner, ids):
    wrong = {}
    # Other methods are refused before anything is read.
    own = [(name, row) for name, row in every_request() if row.method in ("get", ROWS[name].method)]
    for name, row in [*own, *MORE.items()]:
        with taken_back(), whole_runs() as read:
            body_of(ask(owner, row, ids))
        if read and (name, row.method) not in COMPUTE_AGAIN:
            wrong[name, row.method] = read[0]
    assert wrong == {}


@pytest.mark.parametrize("noun", ["before_run", "first_run", "last_run"])
def test_the_runs_of_alerts_are_several(noun):
    with whole_runs() as read:
        list(Alert.objects.select_related(noun))
    assert len(read) == 1


def test_no_deletion_reads_whole_runs(ids, scene):
    Run.with_trash.filter(pk=ids["trashed"]).update(trashed_at="2020-01-01T00:00Z")
    with whole_runs() as read:
        assert remove_expired_runs() == 1
        delete_workspace(scene.own.workspace)
        purge_deleted_workspaces()
    assert not Run.with_trash.filter(workspace=scene.own.workspace).exists()
    assert read == []
