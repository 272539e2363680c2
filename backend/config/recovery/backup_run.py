"""One backup from beginning to end: make it, remove old ones, copy it, and store a report."""

import time
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from backend.config.models import BackupReport
from backend.config.recovery.backup_bucket import Copied, push
from backend.config.recovery.backup_reports import store_report
from backend.config.recovery.backups import DUMP, Backup, copy_artefacts, make_backup, remove_old
from backend.config.recovery.database_programs import RecoveryFailed
from backend.config.recovery.deletions import remove_old_deletions, store_deletions
from backend.config.recovery.restore_drill import drill

LONGEST_REASON = 300


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a backup is to contain, and for how many days old ones are kept."""

    kind: str = DUMP
    has_artefacts: bool = True
    kept_days: int = 30


@dataclass(frozen=True, slots=True)
class Made:
    """A backup that was made. `pushed`: None where there is no bucket."""

    backup: Backup
    report: BackupReport
    copied: int
    removed: int
    pushed: Copied | None


def back_up(folder: Path, wanted: Wanted) -> Made:
    """Make a backup in the folder. Raises RecoveryFailed and OSError, after it was reported."""
    started = time.monotonic()
    try:
        backup = make_backup(folder, kind=wanted.kind)
        copied = copy_artefacts(folder) if wanted.has_artefacts else 0
        removed = remove_old(folder, kept_days=wanted.kept_days)
        store_deletions(folder)
        remove_old_deletions(folder)
        pushed = push(folder, is_mirrored=True) if settings.BACKUP_BUCKET else None
    except (RecoveryFailed, OSError) as failed:
        store_report(seconds=time.monotonic() - started, reason=_line(failed))
        raise
    report = store_report(seconds=time.monotonic() - started)
    return Made(backup, report, copied, len(removed), pushed)


def try_to_restore(made: Made) -> str:
    """Restore a dump into a second database, and look for its artefacts; what is wrong, or empty.

    The report of the backup says it too.
    """
    try:
        problems = drill(made.backup.content).problems
        problem = problems[0] if problems else ""
    except (RecoveryFailed, OSError) as failed:
        problem = _line(failed)
    made.report.restore_problem = problem[:LONGEST_REASON]
    made.report.save(update_fields=["restore_problem"])
    return problem


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:LONGEST_REASON] or type(error).__name__
