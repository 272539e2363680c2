"""What became of the backups: rows, so that every machine tells how old the newest one is."""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import DatabaseError, models, transaction
from django.utils import timezone

from backend.config.models import BackupReport

log = logging.getLogger(__name__)

# Backups are made once a day: one may fail.
OLDEST = timedelta(days=2)
KEPT = timedelta(days=90)


def newest_made() -> BackupReport | None:
    """The report of the newest backup; None where none was ever made."""
    return BackupReport.objects.filter(reason="").first()


def newest_tried() -> BackupReport | None:
    """The report of the newest backup that was restored to try it."""
    return BackupReport.objects.exclude(restore_problem=None).first()


def newest_restored() -> BackupReport | None:
    """The report of the newest backup that could be restored."""
    return BackupReport.objects.filter(restore_problem="").first()


def store_report(*, seconds: float, reason: str = "") -> BackupReport:
    """Store what became of a backup, and forget old reports that tell nothing any more.

    A backup is one without its report too: the database may be away, or without that table.
    """
    report = BackupReport(seconds=seconds, reason=reason)
    try:
        with transaction.atomic():
            report.save()
            _forget_old()
    except DatabaseError:
        log.warning("backup_not_reported", exc_info=True)
    return report


def _forget_old() -> None:
    telling = [each.pk for each in (newest_made(), newest_tried(), newest_restored()) if each]
    old = BackupReport.objects.filter(models.Q(at__lt=timezone.now() - KEPT))
    old.exclude(pk__in=telling).delete()


def warnings(now: datetime | None = None) -> Iterator[str]:
    """A sentence for each thing that is wrong. None where no backup was ever tried to be made."""
    made, tried = newest_made(), newest_tried()
    if made is None and BackupReport.objects.exists():
        yield "no backup could be made"
    elif made is not None and (age := (now or timezone.now()) - made.at) > OLDEST:
        yield f"the newest backup is {age.days} days old"
    if tried is not None and tried.restore_problem:
        yield f"a backup could not be restored: {tried.restore_problem}"
