"""Services that are really away, for tests: refused or cut off, not imitated."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def database_away() -> Iterator[None]:
    """New connections are refused. Only in tests with real transactions."""
    address = {name: connection.settings_dict[name] for name in ("HOST", "PORT")}
    connection.close()
    # Nobody listens on port 1.
    connection.settings_dict.update(HOST="127.0.0.1", PORT="1")
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(address)


def cut_off_database() -> None:
    """End our own session from the server's side, as a restart of the database does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
