"""`manage.py sweep`: send hints again for uploads that were forgotten or abandoned, and throw away
parts whose upload never came."""

from typing import Any

from django.core.management.base import BaseCommand

from backend.ingest import parts, queue


class Command(BaseCommand):
    help = "Send hints again for uploads that are due, and throw away abandoned parts."

    def handle(self, **_: Any) -> None:
        self.stdout.write(f"{queue.sweep()} uploads sent again")
        self.stdout.write(f"{parts.sweep()} abandoned parts thrown away")
