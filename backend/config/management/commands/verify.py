"""`manage.py verify`: whether everything that was received is accounted for."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from backend.config.health.verification_task import store_report
from backend.ingest.reprocessing.verification import Check, verify


class Command(BaseCommand):
    help = (
        "Check that each upload was read, failed with a reason or waits for a worker, that each "
        "artefact has its bytes, and that all stored bytes have a record. The report is kept for "
        "doctor and the operator's page. The exit status is 1 where something is missing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--hash", action="store_true", help="also read and hash every byte")

    def handle(self, *, hash: bool, **_: Any) -> None:  # noqa: A002
        report = store_report(verify(is_hashing=hash), is_complete=True, tell=self._print)
        if report.reason:
            raise CommandError(report.reason)
        if report.problem_count:
            sys.exit(1)

    def _print(self, check: Check) -> None:
        count = check.problem_count
        mark = f"{count} problem{'' if count == 1 else 's'}" if count else "ok"
        self.stdout.write(f"{check.name:<60} {check.count:>10,}  {mark}")
        for problem in check.problems:
            self.stdout.write(f"    {problem}")
