"""What is missing: each part of the service is looked at, whatever the others lack."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from redis.exceptions import RedisError

from backend import disks
from backend.broker import answers_client, broker_client, cache_client
from backend.config.models import newest_reports
from backend.config.processes import heartbeat
from backend.config.recovery import backup_reports
from backend.config.recovery.backups import backups_in
from backend.config.recovery.database_programs import RecoveryFailed, find_program
from backend.storage import StorageAway, bulk_storage

OLDEST_POSTGRES = 140000
# A file that nobody stored: whether it can be asked for is what counts.
NO_SHA256 = "0" * 64
# What manage.py sets beside scripts/start, whose broker has a password that is stored nowhere.
NO_REDIS = "redis://127.0.0.1:1/0"
PROGRAMS = ("pg_dump", "pg_restore", "pg_basebackup")


class State(Enum):
    """How a part is, as the first word of its line."""

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was seen of a part, and what to do."""

    part: str
    state: State
    sentence: str
    advice: str = ""


def examine() -> Iterator[Finding]:
    """Every part in turn. A part that needs the database is left out where that is away."""
    database = _database()
    yield database
    if database.state is State.OK:
        yield _tables()
        yield from _processes()
        yield _integrity()
        yield _archive()
        yield _backups()
    yield _redis("broker", broker_client)
    yield _redis("cache", cache_client)
    yield _redis("answers", answers_client)
    yield _storage()
    yield _disk()
    yield _pages()
    yield _mail()
    yield _programs()


def _database() -> Finding:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version_num")
            (number,) = cursor.fetchone()
            cursor.execute("SHOW server_version")
            (version,) = cursor.fetchone()
    except Error as error:
        return Finding(
            "database",
            State.BROKEN,
            f"It does not answer: {_line(error)}",
            "Start PostgreSQL (scripts/start does), or correct DATABASE_URL.",
        )
    if int(number) < OLDEST_POSTGRES:
        sentence = f"PostgreSQL {version} is too old."
        return Finding("database", State.BROKEN, sentence, "Use PostgreSQL 18.")
    return Finding("database", State.OK, f"PostgreSQL {version} answers.")


def _tables() -> Finding:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        of_one = len(missing) == 1
        sentence = f"{len(missing)} {'migration is' if of_one else 'migrations are'} not applied."
        return Finding("tables", State.BROKEN, sentence, "Run manage.py migrate.")
    return Finding("tables", State.OK, "All migrations are applied.")


def _processes() -> Iterator[Finding]:
    for part, age_s in heartbeat.ages().items():
        sentence = heartbeat.warning(part, age_s)
        if sentence is None:
            yield Finding(part, State.OK, f"Last heartbeat {age_s:.0f} s ago.")
        else:
            heard = "No heartbeat yet" if age_s is None else f"Last heartbeat {age_s:.0f} s ago"
            advice = "Start it, or look at its log: a running process sends a heartbeat every 10 s."
            yield Finding(part, State.BROKEN, f"{heard}: {sentence}.", advice)


def _integrity() -> Finding:
    reports = newest_reports()
    if not reports:
        return Finding("integrity", State.WARNING, "Never checked.", "Run manage.py verify.")
    for report in reports:
        when = f"{report.at:%Y-%m-%d %H:%M} UTC"
        if report.sentence:
            sentence = report.reason or f"{report.problem_text} on {when}."
            advice = "Run manage.py verify for their names."
            return Finding("integrity", State.BROKEN, sentence, advice)
    return Finding("integrity", State.OK, f"No problem on {reports[0].at:%Y-%m-%d %H:%M} UTC.")


def _archive() -> Finding:
    """The archived WAL, by what PostgreSQL says of itself."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW archive_mode")
        (mode,) = cursor.fetchone()
        cursor.execute(
            "SELECT last_failed_time > coalesce(last_archived_time, '-infinity'),"
            " last_failed_wal, last_archived_time FROM pg_stat_archiver"
        )
        is_failing, file, archived_at = cursor.fetchone()
    if mode == "off":
        advice = "To restore any point in time, and not backups alone, set BACKUP_DIR."
        return Finding("WAL archive", State.WARNING, "No WAL is archived.", advice)
    if is_failing:
        return Finding(
            "WAL archive",
            State.BROKEN,
            f"{file} cannot be archived; PostgreSQL keeps it, and its disk fills.",
            "Look at PostgreSQL's log, the disk of BACKUP_DIR, and whether another site uses it.",
        )
    when = f"{archived_at:%Y-%m-%d %H:%M:%S} UTC" if archived_at else "not yet"
    return Finding("WAL archive", State.OK, f"Last archived: {when}.")


def _redis(part: str, client: Callable[[], Any]) -> Finding:
    if settings.REDIS_URL == NO_REDIS:
        sentence = "Not checked: REDIS_URL is not set here. With scripts/start this is normal."
        return Finding(part, State.WARNING, sentence, "The canary shows whether tasks are taken.")
    try:
        memory = client().info("memory")
    except RedisError as error:
        return Finding(
            part,
            State.BROKEN,
            f"It does not answer: {_line(error)}",
            "Start Valkey, or correct REDIS_URL, CACHE_URL and ANSWERS_URL. Uploads are received "
            "all the same.",
        )
    if not memory.get("maxmemory"):
        advice = "Set maxmemory and maxmemory-policy, as docs/operations.md says."
        return Finding(part, State.WARNING, "It may fill the memory of its machine.", advice)
    return Finding(part, State.OK, "It answers.")


def _storage() -> Finding:
    try:
        bulk_storage().has(NO_SHA256)
        if not settings.S3_BUCKET and not os.access(settings.DATA_DIR, os.W_OK):
            raise StorageAway(f"{settings.DATA_DIR} cannot be written")
    except StorageAway as away:
        advice = (
            "Correct DATA_DIR or S3_BUCKET, and the rights of the user that the service runs as."
        )
        return Finding("storage", State.BROKEN, f"It cannot be used: {_line(away)}", advice)
    return Finding("storage", State.OK, "Artefacts can be read and written.")


def _disk() -> Finding:
    """Of the disks that this process sees."""
    if unseen := disks.unseen_folders():
        names = ", ".join(map(str, unseen))
        advice = "Correct DATA_DIR or DATABASE_DIR, or the rights of the user that it runs as."
        return Finding("disk", State.BROKEN, f"Missing or not reachable: {names}.", advice)
    rooms = disks.rooms()
    if short := [room.sentence for room in rooms if room.is_short]:
        advice = "Make room, or set LEAST_FREE_PERCENT and LEAST_FREE_BYTES."
        sentence = "; ".join(short)
        return Finding("disk", State.BROKEN, f"{sentence[0].upper()}{sentence[1:]}.", advice)
    free = ", ".join(f"{room.free >> 20} MiB on the disk of {room.name}" for room in rooms)
    return Finding("disk", State.OK, f"Free: {free}.")


def _pages() -> Finding:
    built = Path(settings.STATICFILES_DIRS[0])
    if not built.is_dir() or not any(built.iterdir()):
        advice = "Run npm ci && npm run build in frontend, or scripts/start."
        return Finding("pages", State.BROKEN, "Their styles and scripts are not built.", advice)
    if settings.DEBUG:
        sentence = "DEBUG is true: pages show settings to everyone."
        return Finding("pages", State.BROKEN, sentence, "Unset DEBUG.")
    return Finding("pages", State.OK, "Their styles and scripts are built.")


def _mail() -> Finding:
    if settings.SENDS_MAIL:
        return Finding("mail", State.OK, f"Sent by {settings.EMAIL_HOST}.")
    advice = "Set SMTP_URL. Until then staff read unsent mails at /messages."
    return Finding("mail", State.WARNING, "No mail server is set.", advice)


def _programs() -> Finding:
    try:
        for name in PROGRAMS:
            find_program(name)
    except RecoveryFailed as missing:
        return Finding("backup programs", State.WARNING, f"{_line(missing).capitalize()}.")
    node = shutil.which("node")
    if node is None:
        advice = "Install Node 20 or newer where web and worker run."
        return Finding("programs", State.WARNING, "No node: images are not drawn.", advice)
    return Finding("programs", State.OK, "PostgreSQL's client programs and Node are installed.")


def _backups() -> Finding:
    """What the process that makes them reported, and the folder where this machine has it."""
    if wrong := "; ".join(backup_reports.warnings()):
        advice = "Look at the log of the process that runs manage.py backup."
        return Finding("backups", State.BROKEN, f"{wrong[0].upper()}{wrong[1:]}.", advice)
    if settings.BACKUP_DIR:
        return _folder_of_backups(Path(settings.BACKUP_DIR))
    if made := backup_reports.newest_made():
        return Finding("backups", State.OK, f"The newest ended at {made.at:%Y-%m-%d %H:%M:%S} UTC.")
    advice = "Set BACKUP_DIR, or make backups in your own way."
    return Finding("backups", State.WARNING, "BACKUP_DIR is not set.", advice)


def _folder_of_backups(folder: Path) -> Finding:
    try:
        backups = backups_in(folder)
    except RecoveryFailed as failed:
        return Finding("backups", State.BROKEN, f"{_line(failed)}.")
    advice = "Run manage.py backup --every 24h, or manage.py backup every day."
    if not backups:
        return Finding("backups", State.BROKEN, "There is no backup.", advice)
    newest = backups[-1]
    sentence = f"The newest ended at {newest.ended_at:%Y-%m-%d %H:%M:%S} UTC ({newest.kind})."
    if datetime.now(UTC) - newest.ended_at > backup_reports.OLDEST:
        return Finding("backups", State.WARNING, sentence, advice)
    return Finding("backups", State.OK, sentence)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
