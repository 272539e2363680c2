"""manage.py restore_drill: does the backup restore?"""

import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.config.recovery.database_programs import RecoveryFailed
from backend.config.recovery.restore_drill import drill


class Command(BaseCommand):
    help = (
        "Restore a backup into a second database beside the live one, check it against the code, "
        "the live database and the stored artefacts, and drop it again. Exit status 1: it fails."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--dump",
            type=Path,
            help="a dump in pg_dump's custom format; without it a fresh one is made",
        )
        parser.add_argument(
            "--hash-percent", type=int, default=5, help="share of artefacts to hash (default: 5)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        percent = options["hash_percent"]
        if not 0 <= percent <= 100:
            raise CommandError(f"--hash-percent is {percent}, expected 0 to 100")
        started = time.monotonic()
        try:
            report = drill(options["dump"], hash_percent=percent)
        except RecoveryFailed as failed:
            raise CommandError(f"The backup does not restore: {failed}") from None
        seconds = time.monotonic() - started
        self.stdout.write(
            f"Restored {report.tables} tables with {report.rows} rows in {seconds:.1f} s; looked "
            f"for {report.artefacts} artefacts and hashed {report.hashed}."
        )
        for problem in report.problems:
            self.stdout.write(f"  {problem}")
        if report.problems:
            raise CommandError(f"The backup is not good. Problems: {len(report.problems)}.")
        self.stdout.write("The backup is good.")
