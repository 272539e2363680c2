"""Does a backup restore? Dump the database, restore the dump beside it, compare and count.

The live database goes on meanwhile: its tables are summed up in the same snapshot that is dumped.
"""

import contextlib
import hashlib
import random
import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

from backend.config.recovery.database_programs import (
    Connection,
    RecoveryFailed,
    connect,
    restore_dump,
    run_program,
)
from backend.storage import CHUNK_BYTES, StorageAway, storage

LISTED = 5
# 60 bits of a hash of each row; their sum is the same in every order.
_SUM = sql.SQL(
    "SELECT count(*), coalesce(sum(('x' || left(md5(t::text), 15))::bit(60)::bigint), 0) FROM {} t"
)


@dataclass(frozen=True, slots=True)
class TableSum:
    """What two equal tables have in common: rows, and a sum over a hash of each."""

    rows: int
    digest: str


@dataclass(slots=True)
class Report:
    """What was restored, and what is wrong with it."""

    tables: int = 0
    rows: int = 0
    artefacts: int = 0
    hashed: int = 0
    problems: list[str] = field(default_factory=list)


def drill(dump: Path | None = None, *, hash_percent: int = 5) -> Report:
    """Restore `dump`, or a fresh one that is then compared with the live database.

    Every artefact of the restored rows must be in the storage; `hash_percent` of them are read and
    hashed. Raises RecoveryFailed.
    """
    report = Report()
    with tempfile.TemporaryDirectory(prefix="loadsheet-drill-") as folder:
        live: dict[str, TableSum] | None = None
        if dump is None:
            dump = Path(folder) / "loadsheet.dump"
            live = dump_database(dump)
        with _second_database() as name:
            restore_dump(dump, name, "--exit-on-error")
            with connect(name) as restored:
                _check_tables(report, sum_tables(restored), live)
                _check_migrations(report, restored)
                _check_artefacts(report, restored, hash_percent)
    return report


def dump_database(dump: Path) -> dict[str, TableSum]:
    """Write a dump; the sums of its tables. Raises RecoveryFailed."""
    with connect(str(connection.settings_dict["NAME"])) as live:
        live.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        (snapshot,) = live.execute("SELECT pg_export_snapshot()").fetchone() or ("",)
        sums = sum_tables(live)
        name = str(connection.settings_dict["NAME"])
        run_program("pg_dump", "--format=custom", f"--snapshot={snapshot}", f"--file={dump}", name)
    return sums


def _table_names(database: Connection) -> list[str]:
    query = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
    return [str(name) for (name,) in database.execute(query).fetchall()]


def sum_tables(database: Connection) -> dict[str, TableSum]:
    """Each table of the schema public, whatever order its rows are in."""
    sums = {}
    for name in _table_names(database):
        row = database.execute(_SUM.format(sql.Identifier(name))).fetchone()
        assert row is not None
        sums[name] = TableSum(int(str(row[0])), str(row[1]))
    return sums


def _check_tables(
    report: Report, restored: dict[str, TableSum], live: dict[str, TableSum] | None
) -> None:
    report.tables = len(restored)
    report.rows = sum(table.rows for table in restored.values())
    if not report.rows:
        report.problems.append("the backup is empty: it has no rows")
    for name in sorted({*(live or restored), *restored}):
        if live is not None and live.get(name) != restored.get(name):
            report.problems.append(f"table {name} differs from the live database")


def _check_migrations(report: Report, restored: Connection) -> None:
    """A dump of another version restores, and then does not fit the code."""
    exists = restored.execute("SELECT to_regclass('django_migrations')").fetchone()
    if exists is None or exists[0] is None:
        report.problems.append("the backup has no table of migrations: it is not of Loadsheet")
        return
    rows = restored.execute("SELECT app, name FROM django_migrations").fetchall()
    applied = {(str(app), str(name)) for app, name in rows}
    loader = MigrationLoader(None)
    if missing := set(loader.graph.nodes) - applied:
        report.problems.append(f"the backup is of an older version: it lacks {_listed(missing)}")
    of_code = set(loader.disk_migrations or ())
    apps = {app for app, _ in of_code}
    if newer := {key for key in applied - of_code if key[0] in apps}:
        report.problems.append(f"the backup is of a newer version: it has {_listed(newer)}")


def _listed(migrations: set[tuple[str, str]]) -> str:
    names = sorted(".".join(key) for key in migrations)
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _check_artefacts(report: Report, restored: Connection, hash_percent: int) -> None:
    if "ingest_artefact" not in _table_names(restored):
        return
    query = f"""
        SELECT DISTINCT sha256, size_bytes FROM ingest_artefact
        WHERE NOT EXISTS ({_removed_for_age(restored)}) ORDER BY 1
        """  # noqa: S608  our own statements
    rows = [(str(sha256), int(str(size))) for sha256, size in restored.execute(query).fetchall()]
    report.artefacts = len(rows)
    report.hashed = -(-len(rows) * hash_percent // 100)
    chosen = set(random.sample(range(len(rows)), report.hashed))
    for number, (sha256, size) in enumerate(rows):
        if problem := _problem_of(sha256, size, is_read=number in chosen):
            report.problems.append(f"artefact {sha256}: {problem}")


def _removed_for_age(restored: Connection) -> str:
    """SQL of the upload of an artefact whose bytes were removed (ingest/removing/retention.py)."""
    columns = restored.execute(
        "SELECT FROM information_schema.columns"
        " WHERE table_name = 'ingest_upload' AND column_name = 'raw_removed_at'"
    )
    # A backup of an older version has no such uploads.
    if columns.fetchone() is None:
        return "SELECT WHERE FALSE"
    return "SELECT FROM ingest_upload u WHERE u.id = upload_id AND u.raw_removed_at IS NOT NULL"


def _problem_of(sha256: str, size: int, *, is_read: bool) -> str | None:
    digest, read = hashlib.sha256(), 0
    try:
        with contextlib.closing(storage().open(sha256)) as stored:
            while is_read and (chunk := stored.read(CHUNK_BYTES)):
                digest.update(chunk)
                read += len(chunk)
    except FileNotFoundError:
        return "its bytes are missing"
    except StorageAway as away:
        raise RecoveryFailed(f"the storage cannot be read: {away}") from None
    if is_read and (read, digest.hexdigest()) != (size, sha256):
        return f"its bytes differ: {read} of {size} bytes"
    return None


@contextlib.contextmanager
def _second_database() -> Iterator[str]:
    name = f"loadsheet_drill_{secrets.token_hex(4)}"
    identifier = sql.Identifier(name)
    with connect(str(connection.settings_dict["NAME"]), autocommit=True) as live:
        live.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(identifier))
        try:
            yield name
        finally:
            live.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(identifier))
