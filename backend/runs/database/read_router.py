"""From which database this thread reads: the primary, or for a while the replica.

Several tables are read in one consistent state.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model

REPLICA = "replica"
_alias: ContextVar[str] = ContextVar("database_to_read", default=DEFAULT_DB_ALIAS)


class ReadRouter:
    """Django's router: reads where `reading_connection` leads, writes on the primary."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str:
        return _alias.get()

    def db_for_write(self, model: type[Model], **hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, first: Model, second: Model, **hints: Any) -> bool:
        return True

    def allow_migrate(self, database: str, app_label: str, **hints: Any) -> bool:
        return database != REPLICA


def reading_connection() -> BaseDatabaseWrapper:
    """The connection that this thread reads through now."""
    return connections[_alias.get()]


@contextmanager
def reading_replica() -> Iterator[None]:
    """In the block, everything is read from the replica."""
    before = _alias.set(REPLICA)
    try:
        yield
    finally:
        _alias.reset(before)


@contextmanager
def repeatable_read() -> Iterator[None]:
    """Every query inside sees one state: a run that is re-read meanwhile is never mixed."""
    connection = reading_connection()
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic(using=connection.alias):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield
