"""A result set that is frozen while raw output is removed for its age keeps what it cites."""

import json
import threading
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from backend.accounts.models import Workspace
from backend.analysis.query.compare_query import CompareQuery
from backend.ingest.models import Upload
from backend.ingest.removing import retention
from backend.ingest.removing.retention import remove_due_output
from backend.sharing import freezing
from backend.sharing.freezing import Description, freeze
from backend.sharing.models import ResultSet
from backend.storage import storage
from backend.testing.scenes import make_scene

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE_S = 60.0
_WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()
    """


@pytest.fixture
def scene():
    scene = make_scene()
    Upload.objects.update(received_at=timezone.now() - timedelta(days=31))
    Workspace.objects.filter(pk=scene.own.workspace.pk).update(raw_kept_days=30)
    return scene


def freeze_run(scene):
    query = CompareQuery.parse(f"run={scene.run.pk}")
    return freeze(query, workspace=scene.own.workspace, author=None, description=Description())


def has_bytes(scene):
    return storage().has(scene.artefact.sha256)


@contextmanager
def standing_still(monkeypatch, module, name, work):
    """`work` in another connection, stopped before it calls `module.name`, ended after the block.

    Yields the function that lets it go on.
    """
    real, begun, released = getattr(module, name), threading.Event(), threading.Event()

    def stop(*arguments, **options):
        begun.set()
        released.wait(PATIENCE_S)
        return real(*arguments, **options)

    def run():
        try:
            work()
        finally:
            connection.close()

    monkeypatch.setattr(module, name, stop)
    thread = threading.Thread(target=run)
    thread.start()
    assert begun.wait(PATIENCE_S)
    monkeypatch.setattr(module, name, real)
    try:
        yield released.set
    finally:
        released.set()
        thread.join(PATIENCE_S)


def test_what_is_being_frozen_is_not_removed(scene, monkeypatch):
    with standing_still(monkeypatch, freezing, "_record", lambda: freeze_run(scene)):
        # The citation is not committed yet, so only the lock keeps the bytes.
        assert remove_due_output() == 0
    assert ResultSet.objects.count() == 1
    assert remove_due_output() == 0
    assert has_bytes(scene)


def test_what_was_frozen_since_the_removal_looked_is_not_removed(scene, monkeypatch):
    real = retention.due_uploads

    def look_once(*arguments):
        """As a statement that began before the citation was committed."""
        monkeypatch.setattr(retention, "due_uploads", real)
        pks = list(real(*arguments).values_list("pk", flat=True))
        freeze_run(scene)
        return Upload.objects.filter(pk__in=pks)

    monkeypatch.setattr(retention, "due_uploads", look_once)
    assert remove_due_output() == 0
    assert has_bytes(scene)


def test_freezing_waits_for_a_removal_and_reads_what_it_left(scene, monkeypatch):
    frozen = []
    with standing_still(monkeypatch, retention, "add", remove_due_output) as let_go:
        freezing_thread = threading.Thread(target=freeze_and_close, args=(scene, frozen))
        freezing_thread.start()
        wait_until_blocked()
        let_go()
        freezing_thread.join(PATIENCE_S)
    (result_set,) = frozen
    (run,) = json.loads(bytes(result_set.snapshot))["runs"]
    assert run["id"] == str(scene.run.pk)
    assert not has_bytes(scene)
    assert Upload.objects.get(pk=scene.upload.pk).raw_removed_at < result_set.created_at


def freeze_and_close(scene, frozen):
    try:
        frozen.append(freeze_run(scene))
    finally:
        connection.close()


def wait_until_blocked():
    """Until another transaction waits for a lock."""
    for _ in range(int(PATIENCE_S / 0.05)):
        with connection.cursor() as cursor:
            cursor.execute(_WAITING)
            if cursor.fetchone()[0]:
                return
        threading.Event().wait(0.05)
    raise AssertionError("nothing waits for a lock")
