"""manage.py sweep: everything that the clock starts, now and by hand."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from backend.config.processes import heartbeat
from backend.ingest.queue.queue import requeue_abandoned
from backend.ingest.removing.collector import TooManyUnnamed, collect
from backend.ingest.removing.purging import purge_deleted_workspaces
from backend.ingest.removing.trash import remove_expired_runs
from backend.storage import StorageAway

PURGE_S = 3600.0


class Command(BaseCommand):
    help = (
        "Give back uploads whose worker ended; remove expired trash, the data of deleted "
        "workspaces, stored bytes that nothing names, and heartbeats of machines that are gone."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{requeue_abandoned():>10}  uploads given back")
        self.stdout.write(f"{remove_expired_runs():>10}  runs removed from the trash")
        self.stdout.write(f"{purge_deleted_workspaces(PURGE_S):>10}  deleted workspaces removed")
        try:
            figures = collect()
        except (TooManyUnnamed, StorageAway) as reason:
            raise CommandError(f"Bytes were not collected: {reason}") from None
        for each in figures:
            self.stdout.write(f"{each.count:>10}  {each.kind} removed, {each.size_bytes} bytes")
        heartbeat.sweep()
