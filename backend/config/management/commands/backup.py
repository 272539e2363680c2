"""manage.py backup: the database and the artefacts, into one folder."""

import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.config.backup_bucket import push
from backend.config.backups import BASE, DUMP, copy_artefacts, make_backup, remove_old
from backend.config.database_programs import RecoveryFailed
from backend.config.deletions import remove_old_deletions, store_deletions

# As long as what was deleted may stay in backups.
KEPT_DAYS = 30


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

    def handle(self, *args: Any, **options: Any) -> None:
        folder = options["folder"] or (settings.BACKUP_DIR and Path(settings.BACKUP_DIR))
        if not folder:
            raise CommandError("Name a folder, or set BACKUP_DIR.")
        if options["keep_days"] < 1:
            raise CommandError(f"--keep-days is {options['keep_days']}, expected at least 1.")
        started = time.monotonic()
        try:
            backup = make_backup(folder, kind=BASE if options["base"] else DUMP)
            copied = 0 if options["no_artefacts"] else copy_artefacts(folder)
            removed = remove_old(folder, kept_days=options["keep_days"])
            store_deletions(folder)
            remove_old_deletions(folder)
            pushed = push(folder, is_mirrored=True) if settings.BACKUP_BUCKET else None
        except (RecoveryFailed, OSError) as failed:
            raise CommandError(f"The backup failed: {failed}") from None
        seconds = time.monotonic() - started
        self.stdout.write(f"Backed up to {backup.path} in {seconds:.1f} s.")
        self.stdout.write(f"Copied {copied} artefacts; removed {len(removed)} old backups.")
        if pushed:
            self.stdout.write(
                f"The bucket {settings.BACKUP_BUCKET} got {pushed.files} files "
                f"({pushed.size_bytes} bytes) and lost {pushed.removed}."
            )
