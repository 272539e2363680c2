"""Erasing an account and taking down wait for others in the order of decision 0069.

A second session stands for a reading or a correction: it holds a row, and wants the workspace next.
"""

import threading
import time
from contextlib import contextmanager

import pytest
from django.db import connection

from backend.accounts.models import Membership, Role, User
from backend.accounts.own_data.erasure import erase_account, erase_again
from backend.accounts.own_data.personal_data import FORGETS, RELATIONS
from backend.accounts.takedown_models import Report, Takedown, Thing
from backend.ingest.models import Upload
from backend.sharing.takedowns import take_down
from backend.testing.every_text import make_every_row
from backend.testing.scenes import make_scene

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("own_storage"),
]
OF_RUNS = [
    relation
    for relation in RELATIONS
    if relation.erasure is FORGETS and relation.column.startswith(("ingest.", "runs."))
]
PATIENCE_S = 60


@pytest.fixture
def person():
    scene = make_scene()
    make_every_row(scene, "abcd")
    user = User.objects.create_user("person", "person@example.org")
    Membership.objects.create(user=user, workspace=scene.own.workspace, role=Role.OWNER)
    for relation in OF_RUNS:
        relation.model._base_manager.update(**{relation.field: user})
    return user


@contextmanager
def other_session():
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SET lock_timeout = '5s'")
            cursor.execute("BEGIN")
            yield cursor
    finally:
        other.close()


@contextmanager
def beside(work, *given):
    """`work` in a thread, which waits for a lock when the block begins; then it must succeed."""
    results, pids = [], []

    def run():
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                pids.append(cursor.fetchone()[0])
            results.append(work(*given))
        except Exception as fault:
            results.append(fault)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        _wait_until_it_waits(pids)
        yield
    finally:
        thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert not isinstance(results[0], Exception), results


def _wait_until_it_waits(pids):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted AND pid = ANY(%s)", [pids])
            if cursor.fetchone():
                return
        time.sleep(0.05)
    raise TimeoutError("It waits for no lock.")


@pytest.mark.parametrize("relation", OF_RUNS, ids=lambda relation: relation.column)
def test_who_holds_what_the_person_did_to_runs_gets_the_workspace(relation, person):
    with other_session() as other:
        other.execute(f'SELECT 1 FROM "{relation.model._meta.db_table}" FOR UPDATE')
        with beside(erase_account, person):
            other.execute("SELECT 1 FROM accounts_workspace FOR NO KEY UPDATE")
            # As PostgreSQL does at the end for a row that names the account.
            other.execute("SELECT 1 FROM accounts_user FOR KEY SHARE")
            other.execute("COMMIT")
    assert not User.objects.filter(pk=person.pk).exists()


def test_so_it_is_after_a_restore(person):
    with other_session() as other:
        other.execute("SELECT 1 FROM ingest_upload FOR UPDATE")
        with beside(erase_again, person.pk):
            other.execute("SELECT 1 FROM accounts_user FOR KEY SHARE")
            other.execute("SELECT 1 FROM runs_run FOR UPDATE")
            other.execute("COMMIT")
    assert not Upload.objects.filter(author=person).exists()


def test_erasing_begins_again_where_a_row_came_meanwhile(person, monkeypatch):
    """The row is found at COMMIT, where no row may name an account that is gone."""
    upload = Upload.objects.filter(author=person).first()
    attempts = []

    def fail_once(user):
        attempts.append(user)
        if len(attempts) == 1:
            with connection.cursor() as cursor:
                cursor.execute(
                    "UPDATE ingest_upload SET author_id = gen_random_uuid() WHERE id = %s",
                    [upload.pk],
                )

    monkeypatch.setattr("backend.accounts.own_data.erasure._delete_sessions", fail_once)
    erase_account(person)

    assert len(attempts) == 2
    assert person.pk is not None
    assert not User.objects.filter(pk=person.pk).exists()


def test_taking_down_waits_for_no_upload():
    workspace = make_scene().own.workspace
    staff = User.objects.create_user("op", is_staff=True)
    report = Report.objects.create(
        workspace=workspace, kind=Thing.WORKSPACE, thing_id=workspace.pk, page="/", reason="spam"
    )
    with other_session() as other:
        other.execute("SELECT 1 FROM accounts_workspace FOR KEY SHARE")
        with connection.cursor() as own:
            own.execute("SET lock_timeout = '1s'")
        try:
            take_down(report, reason="Spam.", is_legal=False, by=staff)
        finally:
            connection.close()
    assert Takedown.objects.active().filter(thing_id=workspace.pk).exists()
