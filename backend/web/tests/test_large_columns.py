"""No query of several runs reads the columns that may hold megabytes of each."""

import re
from contextlib import contextmanager

import pytest
from django.db import connection

from backend.alerts.models import Alert
from backend.ingest.removing.purging import purge_deleted_workspaces
from backend.ingest.removing.trash import remove_expired_runs
from backend.runs.models import Run
from backend.runs.tables.large_columns import large_columns
from backend.sharing.models import SharedRun, Visibility
from backend.sharing.workspace_deletion import delete_workspace
from backend.testing.transactions import taken_back
from backend.web.tests.access_rows import ROWS
from backend.web.tests.access_statuses import Row
from backend.web.tests.every_answer import every_request
from backend.web.tests.test_access import ask, body_of, ids_of

pytestmark = pytest.mark.django_db
# A column itself, not a part of the JSON in it; a second join of the table is named T5 or so.
READ = re.compile(rf'"(?:runs_run|T\d+)"\."(?:{"|".join(large_columns())})"(?=,| AS | FROM )')
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
    small = {"labels", "notes", "agent", "session", "stopped"}
    kinds = {"TextField", "JSONField"}
    large = {field.name for field in Run._meta.fields if field.get_internal_type() in kinds}
    assert large - small == set(large_columns())


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
