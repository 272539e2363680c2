"""`manage.py verify`: whether everything that was received is accounted for."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from backend.ingest.storage import StorageAway
from backend.ingest.verification import verify


class Command(BaseCommand):
    help = (
        "Check that each upload was read, failed with a reason or waits for a worker, that each "
        "artefact has its bytes, and that all stored bytes have a record. The exit status is 1 "
        "where something is missing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--hash", action="store_true", help="also read and hash every byte")

    def handle(self, *, hash: bool, **_: Any) -> None:  # noqa: A002
        problem_count = 0
        try:
            for check in verify(is_hashing=hash):
                problem_count += check.problem_count
                mark = f"{check.problem_count} problems" if check.problem_count else "ok"
                self.stdout.write(f"{check.name:<44} {check.count:>10}  {mark}")
                for problem in check.problems:
                    self.stdout.write(f"    {problem}")
        except StorageAway as away:
            raise CommandError(f"The storage cannot be read: {away}") from None
        if problem_count:
            sys.exit(1)
