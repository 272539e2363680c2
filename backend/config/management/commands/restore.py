"""manage.py restore: the database and the artefacts, from what `manage.py backup` wrote."""

import shutil
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error, OperationalError, ProgrammingError, connection

from backend.accounts.models import AuditEvent
from backend.config.processes import heartbeat
from backend.config.recovery.backups import DUMP, Backup, read_backup, restore_artefacts
from backend.config.recovery.database_programs import RecoveryFailed, restore_dump
from backend.config.recovery.deletions import (
    FOLDER,
    KEEP,
    NOT_ALL,
    keep_deleted,
    read_deletions,
    recorded_deletions,
    repeat_deletions,
    store_deletions,
)
from backend.config.recovery.point_in_time import recover

SECRETS = "secrets.json"
# Deletions that a backup has not may have begun so long before it ended.
BEFORE_BACKUP = timedelta(days=1)


class Command(BaseCommand):
    help = (
        "Restore a dump into the database, with its artefacts; or, with --into, the database of "
        "any moment since a base backup into a data folder of its own, for scripts/start --data. "
        "What was deleted for good since then is deleted once more."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder",
            type=Path,
            help="a backup (FOLDER/2026-…); with --into the folder of all backups",
        )
        parser.add_argument(
            "--replace", action="store_true", help="confirm that the database is replaced"
        )
        parser.add_argument("--into", type=Path, help="a new data folder")
        parser.add_argument(
            "--to",
            metavar="TIME",
            help="the moment, such as 2026-01-31T12:00:00Z; default: the last archived change",
        )

        parser.add_argument(
            "--with-deleted",
            action="store_true",
            help="bring back the workspaces and runs that were deleted for good since then",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self._is_with_deleted = options["with_deleted"]
        if options["to"] and not options["into"]:
            raise CommandError("--to needs --into: a moment is restored into a folder of its own.")
        started = time.monotonic()
        try:
            if options["into"]:
                self._recover(options["folder"], options["into"], options["to"])
            else:
                self._replace(read_backup(options["folder"]), is_confirmed=options["replace"])
        except (RecoveryFailed, OSError) as failed:
            raise CommandError(f"Not restored: {failed}") from None
        except OperationalError as failed:
            raise CommandError(
                f"Not restored: the database does not answer. Start it, and try again. {failed}"
            ) from None
        except Error as failed:
            raise CommandError(
                f"The database refused a part of it: {failed}. Run this again, or if it is there, "
                f"manage.py migrate and manage.py delete_again {options['folder'].parent}"
            ) from None
        self.stdout.write(f"Restored in {time.monotonic() - started:.1f} s.")

    def _recover(self, backups: Path, into: Path, to: str | None) -> None:
        base = recover(backups, into, to=_time_of(to) if to else None)
        if (backups / "artefacts").is_dir():
            shutil.copytree(backups / "artefacts", into / "artefacts", dirs_exist_ok=True)
        if (backups / FOLDER).is_dir():
            # scripts/start reads them: the recovered database is not served yet.
            shutil.copytree(backups / FOLDER, into / FOLDER, dirs_exist_ok=True)
            if self._is_with_deleted:
                (into / FOLDER / KEEP).touch()
        secrets = Path(settings.DATA_DIR) / SECRETS
        if secrets.exists():
            shutil.copy2(secrets, into / SECRETS)
        else:
            self.stdout.write(
                f"Put {SECRETS} of the site into {into}, or set SECRET_KEY and TOKEN_PEPPER: "
                "without them no token works."
            )
        self.stdout.write(f"From the base backup of {base.ended_at:%Y-%m-%d %H:%M:%S} UTC.")
        self.stdout.write(f"Look at it with: scripts/start --no-demo --port 8001 --data {into}")

    def _replace(self, backup: Backup, *, is_confirmed: bool) -> None:
        """Replace the database by a dump. The artefacts come first: each row has its bytes."""
        if backup.kind != DUMP:
            raise RecoveryFailed("a base backup is restored with --into, from the folder above it")
        _require_stopped()
        if not is_confirmed:
            raise RecoveryFailed(
                "the database would be replaced by that of "
                f"{backup.ended_at:%Y-%m-%d %H:%M:%S} UTC: confirm it with --replace"
            )
        with suppress(OSError, Error):
            # Only the database that goes knows the latest deletions: `delete_again` reads them here
            # if the restore ends early.
            store_deletions(backup.path.parent)
        deleted = _deleted_since(backup)
        restored = restore_artefacts(backup.path.parent)
        # The tables are dropped: no session of ours may hold them.
        connection.close()
        name = str(settings.DATABASES["default"]["NAME"])
        restore_dump(backup.content, name, "--clean", "--if-exists", "--single-transaction")
        self.stdout.write(f"Put back {restored} artefacts. Check all of them: manage.py verify")
        # The backup may be of an older version.
        call_command("migrate", verbosity=0)
        if self._is_with_deleted:
            keep_deleted(deleted)
            return
        repeated = repeat_deletions(deleted)
        self.stdout.write(f"Deleted since the backup, and now once more: {repeated}.")
        if repeated.failed_runs:
            raise RecoveryFailed(NOT_ALL.format(repeated.failed_runs, backup.path.parent))


def _deleted_since(backup: Backup) -> list[AuditEvent]:
    """What was deleted, by the files beside the backup and by the database that it replaces."""
    events = read_deletions(backup.path.parent)
    try:
        events += recorded_deletions(backup.ended_at - BEFORE_BACKUP)
    except ProgrammingError:
        # A database without tables.
        connection.rollback()
    return events


def _require_stopped() -> None:
    """Raise RecoveryFailed while a process works on the database."""
    try:
        ages = heartbeat.ages()
    except Error:
        # A database without tables.
        return
    running = [
        part
        for part in (heartbeat.WORKER, heartbeat.BEAT)
        if (age_s := ages[part]) is not None and age_s < heartbeat.SILENT_AFTER_S[part]
    ]
    if running:
        raise RecoveryFailed(
            f"{' and '.join(running)} ran within the last minute: stop web, worker and beat, and "
            "try again in a minute"
        )


def _time_of(text: str) -> datetime:
    """The time; without a zone it is UTC. Raises CommandError."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(
            f"--to is {text!r}, expected a time such as 2026-01-31T12:00:00Z."
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
