"""The integrity checks of `manage.py verify`: rows every hour, bytes once a day."""

import time
from collections.abc import Callable, Iterable

from celery import current_app, shared_task
from django.db import OperationalError

from backend.broker import BROKER
from backend.config.models import IntegrityReport
from backend.ingest.reprocessing.verification import Check, verify, verify_rows
from backend.storage import StorageAway

VERIFY_TASK = "config.verify"
VERIFY_ROWS_TASK = "config.verify_rows"
# Of each kind.
REPORTS_KEPT = 10


@shared_task(name=VERIFY_TASK)  # type: ignore[untyped-decorator]
def check_integrity() -> None:
    """Run all checks and store a report."""
    store_report(verify(), is_complete=True)


@shared_task(name=VERIFY_ROWS_TASK)  # type: ignore[untyped-decorator]
def check_rows() -> None:
    """Count rows against rows, without the storage, and store a report."""
    store_report(verify_rows(), is_complete=False)


def store_report(
    checks: Iterable[Check],
    *,
    is_complete: bool,
    tell: Callable[[Check], None] = lambda _check: None,
) -> IntegrityReport:
    """Run the checks, store what they say, and return it. `tell` gets each check once it ended."""
    started = time.monotonic()
    lines, reason = [], ""
    try:
        for check in checks:
            tell(check)
            lines.append(
                {
                    "name": check.name.strip(),
                    "count": check.count,
                    "problem_count": check.problem_count,
                    "problems": check.problems,
                }
            )
    except StorageAway as away:
        reason = f"The storage cannot be read: {away}"
    except OperationalError as error:
        # Mostly the time limit of statements.
        reason = f"The database did not answer a check: {error}"
    report = IntegrityReport.objects.create(
        lines=lines, reason=reason, seconds=time.monotonic() - started, is_complete=is_complete
    )
    reports = IntegrityReport.objects.filter(is_complete=is_complete)
    newest = reports.values_list("pk", flat=True)[:REPORTS_KEPT]
    reports.exclude(pk__in=list(newest)).delete()
    return report


def request_check() -> bool:
    """Ask a worker for the checks now; whether the broker took it."""

    def send() -> bool:
        current_app.send_task(VERIFY_TASK, retry=False)
        return True

    return BROKER.call(send, otherwise=False)
