"""A kept connection is looked at without asking the server, and is replaced once it has ended."""

import psycopg
import pytest
from django.db import connection

from backend.testing.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _kept_connection():
    connection.ensure_connection()
    yield
    connection.close()


def asked(monkeypatch):
    """The statements that the connection sends from now on."""
    statements = []
    execute = psycopg.Cursor.execute
    monkeypatch.setattr(
        psycopg.Cursor,
        "execute",
        lambda self, query, *given, **named: (
            statements.append(str(query)) or execute(self, query, *given, **named)
        ),
    )
    return statements


def backend_id():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def end(pid):
    """Let the server end the connection, as it does when it stops."""
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
        query = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s"
        assert wait_until(lambda: not other.execute(query, [pid]).fetchone()[0], 30)


def test_a_kept_connection_is_used_without_a_question(monkeypatch):
    before, statements = backend_id(), asked(monkeypatch)
    connection.health_check_enabled, connection.health_check_done = True, False
    assert backend_id() == before
    assert statements == ["SELECT pg_backend_pid()"]


def test_a_connection_that_the_server_ended_is_replaced():
    before = backend_id()
    end(before)
    connection.health_check_enabled, connection.health_check_done = True, False
    assert backend_id() != before


def test_after_an_error_the_server_is_asked(monkeypatch):
    statements = asked(monkeypatch)
    connection.errors_occurred = True
    assert connection.is_usable()
    assert statements == ["SELECT 1"]


def test_a_closed_connection_is_not_usable():
    connection.connection.close()
    assert not connection.is_usable()
    connection.close()
    assert not connection.is_usable()
