"""`manage.py sweep`: send hints again for uploads that were forgotten or abandoned."""

from typing import Any

from django.core.management.base import BaseCommand

from backend.ingest import queue


class Command(BaseCommand):
    help = "Send hints again for uploads that are due."

    def handle(self, **_: Any) -> None:
        self.stdout.write(f"{queue.sweep()} uploads sent again")
