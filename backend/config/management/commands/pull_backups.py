"""manage.py pull_backups: the folder of backups, from its copy in the bucket."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.config.recovery.backup_bucket import pull
from backend.config.recovery.database_programs import RecoveryFailed


class Command(BaseCommand):
    help = "Copy from BACKUP_BUCKET into a folder what the folder lacks, to restore from it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            pulled = pull(options["folder"])
        except (RecoveryFailed, OSError) as failed:
            raise CommandError(f"Not copied: {failed}") from None
        self.stdout.write(f"Copied {pulled.files} files with {pulled.size_bytes} bytes.")
