"""`manage.py backup --every 24h`: a process that makes the backups, and tries them now and then.

It is the only process that needs the folder of backups, so it also stores there, once a minute,
what was deleted for good.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.db import DatabaseError, connections

from backend.config.processes import heartbeat
from backend.config.recovery.backup_reports import newest_restored
from backend.config.recovery.backup_run import Made, Wanted, back_up, try_to_restore
from backend.config.recovery.backups import DUMP, last_ended_in
from backend.config.recovery.database_programs import RecoveryFailed
from backend.config.recovery.deletions import store_new_deletions

log = logging.getLogger(__name__)

LOOK_EVERY_S = 60.0
# After a failure: the reason may pass by itself.
AGAIN_AFTER = timedelta(minutes=15)
TRIED_EVERY = timedelta(days=7)


@dataclass(slots=True)
class Schedule:
    """A backup of the folder is due when the newest one is older than `every`."""

    folder: Path
    every: timedelta
    wanted: Wanted
    tell: Callable[[Made], None]
    _failed_at: datetime | None = field(default=None, init=False)

    def run(self, wait: Callable[[float], None] = time.sleep) -> None:
        """Make backups until the process ends."""
        heartbeat.start_thread(heartbeat.BACKUP)
        while True:
            self.step(datetime.now(UTC))
            # Nothing is asked meanwhile, and the database may be restarted.
            connections.close_all()
            wait(LOOK_EVERY_S)

    def step(self, now: datetime) -> None:
        """Make a backup if one is due; what fails is logged, and tried again."""
        store_new_deletions()
        try:
            if self._is_due(now):
                made = back_up(self.folder, self.wanted)
                self._failed_at = None
                self.tell(made)
                self._try_now_and_then(made, now)
        except (RecoveryFailed, OSError, DatabaseError) as failed:
            self._failed_at = now
            log.error("backup_failed", extra={"reason": str(failed)[:300]})

    def _is_due(self, now: datetime) -> bool:
        if self._failed_at is not None and now - self._failed_at < AGAIN_AFTER:
            return False
        # A damaged one stops no other; the report of the next backup names it (remove_old).
        last = last_ended_in(self.folder)
        return last is None or now - last >= self.every

    def _try_now_and_then(self, made: Made, now: datetime) -> None:
        """Restore a dump once a week, and once more for every backup until one can be restored."""
        restored = newest_restored()
        if made.backup.kind != DUMP or (restored and now - restored.at < TRIED_EVERY):
            return
        if problem := try_to_restore(made):
            log.error("backup_not_restored", extra={"reason": problem[:300]})
