"""A plugin of pytest: after a test that commits, only the tables that have rows are emptied.

Django truncates every table and makes its content types and permissions again, which takes longer
than most tests: a truncated table gets new files, also for each index.

Before that, every other session must be idle: it could write rows for the next test, or wait for
locks of what is emptied. An idle one may be the connection of this process before a browser was
started, which has a context of its own. At the end the database is dropped with its sessions.
"""

from collections.abc import Iterable
from typing import Any

import pytest

from backend.testing.waiting import wait_until

# What Django makes after migrations, and their list.
KEPT = {"django_content_type", "auth_permission", "django_migrations"}
# Of a killed process, a session ends after its statement.
END_WITHIN_S = 60.0
# The name of sessions that may stay: of a machine that a module starts once for its tests.
OF_A_MACHINE = "machine of the tests"
OTHERS = """
    SELECT query FROM pg_stat_activity WHERE datname = current_database()
    AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name <> %s
    AND state <> 'idle'
"""


@pytest.fixture(autouse=True, scope="session")
def _empties_tables() -> Iterable[None]:
    from django.db.backends.postgresql.creation import DatabaseCreation
    from django.test import TransactionTestCase

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", _tear_down)
        patch.setattr(DatabaseCreation, "_destroy_test_db", _drop)
        yield


def _drop(creation: Any, name: str, _: int) -> None:
    with creation._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE {creation.connection.ops.quote_name(name)} WITH (FORCE)")


def _tear_down(case: Any) -> None:
    for alias in case._databases_names(include_mirrors=False):
        try:
            wait_until_alone(alias)
        finally:
            empty_tables(alias)


def wait_until_alone(alias: str) -> None:
    """Raises AssertionError where sessions of others stay at work; a pooler keeps its own."""
    # What it imports reads the settings of this process, which are not set when pytest begins.
    from backend.testing.pooler import IS_POOLED

    if IS_POOLED or wait_until(lambda: not queries_of_others(alias), END_WITHIN_S, every_s=0.01):
        return
    raise AssertionError(
        "Sessions of the database are at work after the test. End the transactions of its threads, "
        f"and end its processes. What they asked last: {queries_of_others(alias)}"
    )


def queries_of_others(alias: str) -> list[str]:
    """The last statement of each other session of the database that is not idle."""
    from django.db import connections

    with connections[alias].cursor() as cursor:
        cursor.execute(OTHERS, [OF_A_MACHINE])
        return [query for (query,) in cursor.fetchall()]


def empty_tables(alias: str) -> None:
    """Delete every row of a database, but those of `KEPT`."""
    from django.db import connections, transaction

    with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        tables = connections[alias].introspection.table_names(cursor)
        asked = " UNION ALL ".join(
            f"(SELECT '{name}' FROM \"{name}\" LIMIT 1)"  # noqa: S608  names of our own tables
            for name in tables
            if name not in KEPT
        )
        cursor.execute(asked)
        filled = [name for (name,) in cursor.fetchall()]
        # In any order, and without our own triggers.
        cursor.execute("SET LOCAL session_replication_role = replica")
        for name in filled:
            cursor.execute(f'DELETE FROM "{name}"')  # noqa: S608
