"""The integrity checks of `manage.py verify`, run once a day and when the operator asks."""

from __future__ import annotations

import time

from celery import current_app, shared_task

from backend.broker import BROKER
from backend.config.models import IntegrityReport
from backend.ingest.storage import StorageAway
from backend.ingest.verification import verify

VERIFY_TASK = "config.verify"
REPORTS_KEPT = 10


@shared_task(name=VERIFY_TASK)  # type: ignore[untyped-decorator]
def check_integrity() -> None:
    """Run the checks and store a report."""
    started = time.monotonic()
    lines, reason = [], ""
    try:
        for check in verify():
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
    IntegrityReport.objects.create(lines=lines, reason=reason, seconds=time.monotonic() - started)
    newest = IntegrityReport.objects.values("pk")[:REPORTS_KEPT]
    IntegrityReport.objects.exclude(pk__in=list(newest.values_list("pk", flat=True))).delete()


def request_check() -> bool:
    """Ask a worker for the checks now; whether the broker took it."""

    def send() -> bool:
        current_app.send_task(VERIFY_TASK, retry=False)
        return True

    return BROKER.call(send, otherwise=False)
