"""Reading several tables in one consistent state."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from backend.runs.database.read_router import reading_connection


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
