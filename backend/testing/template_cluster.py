"""The database of a new site with every table, made once for a run of the tests.

Migrations take more than half of the start of a new site. scripts/test names the folder.
"""

import fcntl
import os
import subprocess
import tempfile
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier

from backend.config.recovery.database_programs import find_program
from backend.config.recovery.embedded import Postgres
from backend.testing.template_database import make_template, migrate, of_database, template_name


def copy_cluster(data: Path) -> None:
    """Give the new data folder of a site its database.

    Raises EmbeddedFailed, psycopg.Error, and CalledProcessError where a migration fails.
    """
    template = Path(os.environ["SITE_TEMPLATE"])
    with template.with_suffix(".lock").open("ab") as lock:
        # Until the file is closed.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not template.exists():
            _make(template)
    # With the owner: PostgreSQL runs as another user where this one is root.
    command = ["cp", "--archive", str(Postgres(template).data), str(Postgres(data).data)]
    subprocess.run(command, check=True)


def _make(template: Path) -> None:
    half = template.with_suffix(".half")
    server = Postgres(half, settings={"fsync": "off"})
    server.start(half / "postgres.log")
    try:
        _make_tables(server.url)
    finally:
        server.stop()
    half.rename(template)


def _make_tables(url: str) -> None:
    """Copied from those of the tests, where these are kept; else by all migrations."""
    template = template_name()
    if template is None:
        migrate(url)
        return
    tests = os.environ["DATABASE_URL"]
    make_template(tests, template)
    copy = f"{template}_dumped"
    # Nobody could copy the template while it is dumped.
    with psycopg.connect(of_database(tests, "postgres"), autocommit=True) as server:
        names = Identifier(copy), Identifier(template)
        server.execute(SQL("CREATE DATABASE {} TEMPLATE {}").format(*names))
    with tempfile.NamedTemporaryFile() as dump:
        options = ("--format=custom", "--compress=0", f"--file={dump.name}")
        subprocess.run([find_program("pg_dump"), *options, of_database(tests, copy)], check=True)
        options = ("--exit-on-error", f"--dbname={url}", dump.name)
        subprocess.run([find_program("pg_restore"), *options], check=True)
