"""manage.py delete_again: after a restore, what was deleted since the backup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.config.database_programs import RecoveryFailed
from backend.config.deletions import read_deletions, repeat_deletions


class Command(BaseCommand):
    help = (
        "Delete once more the workspaces and runs that were deleted for good since the backup "
        "that was restored. `restore` does it by itself."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="the folder of all backups")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            repeated = repeat_deletions(read_deletions(options["folder"]))
        except RecoveryFailed as failed:
            raise CommandError(f"Nothing was deleted: {failed}") from None
        self.stdout.write(
            f"Deleted once more: workspaces: {repeated.workspaces}, runs: {repeated.runs}."
        )
