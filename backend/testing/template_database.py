"""The tables of the tests: made once by migrations, and copied by each process of a run.

All migrations take longer than a copy by far, and every process needs a database of its own.
"""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg.sql import SQL, Identifier

from backend.testing.pooler import IS_POOLED

ROOT = Path(__file__).resolve().parents[2]
# Any number: nothing else locks in the database of PostgreSQL's own.
LOCK = 1


def template_name() -> str | None:
    """The database that the processes of this run copy; None if one is alone, or pooled."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    # A pooler would keep a session in the template, which nobody could copy then.
    return f"tables_{run}" if run and not IS_POOLED else None


def make_template(url: str, name: str) -> None:
    """Make the database `name` with every table, unless another process has made it.

    Raises psycopg.Error, and CalledProcessError where a migration fails.
    """
    half = f"{name}_half"
    with psycopg.connect(of_database(url, "postgres"), autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        query = "SELECT 1 FROM pg_database WHERE datname = %s"
        if connection.execute(query, [name]).fetchone():
            return
        connection.execute(SQL("DROP DATABASE IF EXISTS {}").format(Identifier(half)))
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(half)))
        migrate(of_database(url, half))
        rename = SQL("ALTER DATABASE {} RENAME TO {}")
        connection.execute(rename.format(Identifier(half), Identifier(name)))


def migrate(url: str) -> None:
    """Make every table of a new database; raises CalledProcessError."""
    subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity=0"],
        env={**os.environ, "DATABASE_URL": url, "DATABASE_POOLER": "none"},
        check=True,
    )


def of_database(url: str, name: str) -> str:
    """The address of another database of the same server."""
    return urlsplit(url)._replace(path=f"/{name}").geturl()
