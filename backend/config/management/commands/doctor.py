"""manage.py doctor: what is missing, and what to do about it."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from backend.config.health.doctor import State, examine


class Command(BaseCommand):
    help = "Look at every part of the service. Exit status 1: something is broken."
    # The checks of Django need no database; those of ours say why there is none.
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        is_broken = False
        for finding in examine():
            is_broken |= finding.state is State.BROKEN
            self.stdout.write(f"{finding.state.value:<8} {finding.part}: {finding.sentence}")
            if finding.advice:
                self.stdout.write(f"{'':<8} {finding.advice}")
        if is_broken:
            sys.exit(1)
