"""Recovery of the database as it was at a time: a base backup, and the WAL archived since.

The recovered database gets a data folder of its own, which `scripts/start --data` serves. Nothing
of the live site is touched.
"""

import gzip
import os
import shutil
import signal
import tarfile
import time
import zlib
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from backend.config.recovery.backups import BASE, Backup, backups_in
from backend.config.recovery.database_programs import RecoveryFailed
from backend.config.recovery.embedded import EmbeddedFailed, Postgres
from backend.config.recovery.wal_archive import restore_settings, wal_folder

LOG_NAME = "recovery.log"
PAUSE_S = 0.2
TOO_LATE = "recovery ended before configured recovery target was reached"


def recover(backups: Path, into: Path, *, to: datetime | None = None) -> Backup:
    """Make a data folder with the database of the time `to`, or of the last archived change.

    Returns the base backup that it began with. Raises RecoveryFailed; the folder is to be removed
    then.
    """
    base = _base_before(backups, to)
    into.mkdir(mode=0o755, parents=True, exist_ok=True)
    until = "" if to is None else to.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f+00")
    try:
        postgres = Postgres(into, settings=restore_settings(wal_folder(backups), until))
        _unpack(base, postgres)
        _replay(postgres, into / LOG_NAME, until)
    except (EmbeddedFailed, OSError) as failed:
        raise RecoveryFailed(" ".join(str(failed).split())) from None
    return base


def _base_before(backups: Path, to: datetime | None) -> Backup:
    bases = [backup for backup in backups_in(backups) if backup.kind == BASE]
    usable = [base for base in bases if to is None or base.ended_at <= to]
    if usable:
        return usable[-1]
    if not bases:
        raise RecoveryFailed(f"{backups} has no base backup: make one with manage.py backup --base")
    raise RecoveryFailed(
        f"the oldest base backup ended at {bases[0].ended_at:%Y-%m-%d %H:%M:%S} UTC, and {to} is "
        "before: give a later time, or restore an older dump"
    )


def _unpack(base: Backup, postgres: Postgres) -> None:
    if postgres.data.exists():
        raise RecoveryFailed(f"{postgres.data} exists: give a folder without a database")
    postgres.data.mkdir(mode=0o700, parents=True)
    for name, place in (
        ("base.tar.gz", postgres.data),
        ("pg_wal.tar.gz", postgres.data / "pg_wal"),
    ):
        try:
            with (
                gzip.open(base.content / name) as content,
                tarfile.open(fileobj=content) as archive,
            ):
                archive.extractall(place, filter="data")
                # The sum is behind the end of the archive: it is compared when all was read.
                while content.read(1 << 20):
                    pass
        except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error) as damage:
            raise RecoveryFailed(
                f"{base.content / name} is damaged ({damage}): take it from another copy of the "
                "backups, or restore a dump"
            ) from None
    (postgres.data / "recovery.signal").touch()
    if postgres.account.uid is not None:
        for path in (postgres.data, *postgres.data.rglob("*")):
            os.chown(path, postgres.account.uid, postgres.account.gid or 0)


def _replay(postgres: Postgres, log: Path, until: str) -> None:
    """Run the server until it has replayed the WAL; raises RecoveryFailed."""
    process = postgres.spawn(log)
    try:
        while not _is_recovered(postgres):
            if process.poll() is not None:
                raise RecoveryFailed(_reason(log, until))
            time.sleep(PAUSE_S)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait()
        shutil.rmtree(postgres.sockets, ignore_errors=True)


def _is_recovered(postgres: Postgres) -> bool:
    """Whether the server answers, and takes changes again."""
    with (
        suppress(psycopg.OperationalError),
        psycopg.connect(
            host=str(postgres.sockets), user="loadsheet", dbname="postgres", autocommit=True
        ) as database,
    ):
        row = database.execute("SELECT pg_is_in_recovery()").fetchone()
        return row == (False,)
    return False


def _reason(log: Path, until: str) -> str:
    text = log.read_text(errors="replace")
    if TOO_LATE in text:
        return (
            f"the archived WAL ends before {until}: give an earlier time, or none for the last "
            "archived change"
        )
    lines = [line for line in text.splitlines() if "FATAL" in line or "PANIC" in line]
    return f"PostgreSQL did not recover: {(lines or ['it gave no reason'])[-1].strip()[:300]}"
