"""A plugin of pytest: after a test that commits, only the tables that have rows are emptied.

Django truncates every table and makes its content types and permissions again, which takes longer
than most tests: a truncated table gets new files, also for each index.
"""

from collections.abc import Iterable
from typing import Any

import pytest

# What Django makes after migrations, and their list.
KEPT = {"django_content_type", "auth_permission", "django_migrations"}


@pytest.fixture(autouse=True, scope="session")
def _empties_tables() -> Iterable[None]:
    from django.test import TransactionTestCase

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", _tear_down)
        yield


def _tear_down(case: Any) -> None:
    for alias in case._databases_names(include_mirrors=False):
        empty_tables(alias)


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
