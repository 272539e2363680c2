"""`manage.py collect`: remove expired trash, and stored bytes that nothing names."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from backend.ingest.removing.collector import TooManyUnnamed, collect
from backend.ingest.removing.retention import due_output, remove_due_output
from backend.ingest.removing.trash import remove_expired_runs
from backend.storage import StorageAway


class Command(BaseCommand):
    help = (
        "Delete runs that were in the trash for 30 days, raw output older than its workspace keeps "
        "it, stored bytes older than COLLECT_AFTER_S that no row names, and parts without an "
        "upload."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="list what would be removed")
        parser.add_argument(
            "--force", action="store_true", help="even if most artefacts have no row"
        )

    def handle(self, *, dry_run: bool, force: bool, **_: Any) -> None:
        due = due_output()
        if not dry_run:
            remove_expired_runs()
            remove_due_output()
        try:
            figures = collect(is_dry_run=dry_run, is_forced=force)
        except (TooManyUnnamed, StorageAway) as reason:
            raise CommandError(str(reason)) from None
        self.stdout.write("would be removed:" if dry_run else "removed:")
        for each in [due, *figures]:
            self.stdout.write(f"{each.count:>10}  {each.kind:<26} {each.size_bytes:>16} bytes")
