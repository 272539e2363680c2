"""manage.py delete_again: after a restore, what was deleted since the backup."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error

from backend.config.recovery.database_programs import RecoveryFailed
from backend.config.recovery.deletions import (
    FOLDER,
    KEEP,
    NOT_ALL,
    keep_deleted,
    read_deletions,
    repeat_deletions,
)


class Command(BaseCommand):
    help = (
        "Delete once more the workspaces and runs that were deleted for good since the backup "
        "that was restored. `restore` does it by itself."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="the folder of all backups")

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"]
        try:
            events = read_deletions(folder)
            if (folder / FOLDER / KEEP).exists():
                keep_deleted(events)
                self.stdout.write("Kept what was deleted: it was restored with --with-deleted.")
                return
            repeated = repeat_deletions(events)
        except RecoveryFailed as failed:
            raise CommandError(f"Nothing was deleted: {failed}") from None
        except Error as failed:
            raise CommandError(f"Not all was deleted: {failed}. Run this again.") from None
        self.stdout.write(f"Deleted once more: {repeated}.")
        if repeated.failed_runs:
            raise CommandError(NOT_ALL.format(repeated.failed_runs, folder))
