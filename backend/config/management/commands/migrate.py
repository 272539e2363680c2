"""`manage.py migrate`: as Django's, on tables that are large and in use.

A statement that waits for a table's lock makes all others wait behind it. So it gives up soon and
tries again later. Statements themselves may take as long as they need.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands.migrate import Command as Migrate
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from backend.migration_steps import has_session

LOCK_WAIT = "2s"
# Between tries: ten minutes in all.
PAUSES_S = (1, 2, 5, 10, 20, 30, 60, 60, 60, 60, 60, 60, 60, 60, 60)
LOCK_NOT_AVAILABLE, DEADLOCK = "55P03", "40P01"


class Command(Migrate):
    """Tries again where a table is in use: what is done is not done again."""

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        with _long_statements(connection):
            for pause_s in PAUSES_S:
                if self._has_migrated(*args, **options):
                    return
                self.stderr.write(f"A table is in use by others. Trying again in {pause_s} s.")
                time.sleep(pause_s)
            if not self._has_migrated(*args, **options):
                raise CommandError(
                    "A table was in use by others in each of "
                    f"{len(PAUSES_S) + 1} tries. Look for long transactions in pg_stat_activity, "
                    "or stop web and worker, then run migrate again. It goes on where it stopped."
                )

    def _has_migrated(self, *args: Any, **options: Any) -> bool:
        """Whether all is done; False where a lock was not got in time."""
        try:
            super().handle(*args, **options)
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", "") not in (LOCK_NOT_AVAILABLE, DEADLOCK):
                raise
            return False
        return True


@contextmanager
def _long_statements(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Short waits for locks and no end of statements, for this session."""
    if not has_session(connection):
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{LOCK_WAIT}'")
        cursor.execute("SET statement_timeout = 0")
    try:
        yield
    finally:
        # Another session begins with the usual limits.
        connection.close()
