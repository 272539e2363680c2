"""manage.py backup: the database and the artefacts, into one folder, once or again and again."""

import argparse
import re
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.config.recovery.backup_run import Made, Wanted, back_up
from backend.config.recovery.backup_schedule import Schedule
from backend.config.recovery.backups import BASE, DUMP
from backend.config.recovery.database_programs import RecoveryFailed

# As long as what was deleted may stay in backups.
KEPT_DAYS = 30
UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def duration(text: str) -> timedelta:
    """30m, 24h or 7d."""
    written = re.fullmatch(r"([1-9]\d{0,3})([mhd])", text)
    if written is None:
        raise argparse.ArgumentTypeError(f"{text!r}, expected a duration like 30m, 24h or 7d")
    return timedelta(**{UNITS[written[2]]: int(written[1])})


class Command(BaseCommand):
    help = (
        "Back up the database and the artefacts into a folder, and remove old backups there; copy "
        "it to BACKUP_BUCKET where that is set. Exit status 1: no backup was made."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", nargs="?", type=Path, help="default: BACKUP_DIR")
        parser.add_argument(
            "--base",
            action="store_true",
            help="copy the files of PostgreSQL, from which any later moment can be restored with "
            "archived WAL, instead of a dump",
        )
        parser.add_argument(
            "--no-artefacts", action="store_true", help="the bucket keeps versions of its own"
        )
        parser.add_argument(
            "--keep-days",
            type=int,
            default=KEPT_DAYS,
            help=f"remove backups older than so many days (default: {KEPT_DAYS})",
        )
        parser.add_argument(
            "--every",
            type=duration,
            metavar="24h",
            help="go on, and make a backup when the newest one is so old; restore one a week into "
            "a second database, to try it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folder = options["folder"] or (settings.BACKUP_DIR and Path(settings.BACKUP_DIR))
        if not folder:
            raise CommandError("Name a folder, or set BACKUP_DIR.")
        if options["keep_days"] < 1:
            raise CommandError(f"--keep-days is {options['keep_days']}, expected at least 1.")
        kind = BASE if options["base"] else DUMP
        wanted = Wanted(kind, not options["no_artefacts"], options["keep_days"])
        if options["every"]:
            # Ends a dump as well, and removes what it has written.
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
            Schedule(folder, options["every"], wanted, self._tell).run()
        try:
            self._tell(back_up(folder, wanted))
        except (RecoveryFailed, OSError) as failed:
            raise CommandError(f"The backup failed: {failed}") from None

    def _tell(self, made: Made) -> None:
        self.stdout.write(f"Backed up to {made.backup.path} in {made.report.seconds:.1f} s.")
        self.stdout.write(f"Copied {made.copied} artefacts; removed {made.removed} old backups.")
        if made.pushed:
            self.stdout.write(
                f"The bucket {settings.BACKUP_BUCKET} got {made.pushed.files} files "
                f"({made.pushed.size_bytes} bytes) and lost {made.pushed.removed}."
            )
