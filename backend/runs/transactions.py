"""Reading several tables in one consistent state."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import OperationalError, transaction
from psycopg.errors import SerializationFailure

from backend.runs.read_router import reading_connection

MOST_ATTEMPTS = 4
Result = TypeVar("Result")


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


def repeat_if_overtaken(work: Callable[[], Result]) -> Result:
    """The result of `work`, a `repeatable_read` that locks rows.

    PostgreSQL refuses the lock where a row was changed after the state that is read; `work` then
    begins again with a newer state. The last refusal is raised, as OperationalError.
    """
    for _ in range(MOST_ATTEMPTS - 1):
        try:
            return work()
        except OperationalError as error:
            if not isinstance(error.__cause__, SerializationFailure):
                raise
    return work()
