"""Runs that wait for the rules: the row is the queue.

A claim moves `due_at` ahead, so a run whose worker died is judged again later.
"""

import logging
import time
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from backend.accounts.workspace.turns import Work, end_turn, next_workspaces
from backend.alerts.announcing import announce_run
from backend.alerts.evaluation import judge_run
from backend.alerts.models import PendingRun
from backend.runs.models import Run

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=120)
MOST_ATTEMPTS = 3


def judge_next() -> bool:
    """Judge a run that waits; False where none does."""
    pending = _claim()
    if pending is not None:
        started = time.monotonic()
        _judge(pending)
        end_turn(Work.RUN, pending.workspace_id, time.monotonic() - started)
    return pending is not None


@transaction.atomic
def _claim() -> PendingRun | None:
    due = PendingRun.objects.filter(due_at__lte=Now(), workspace__deleted_at=None)
    waiting = due.order_by().values_list("workspace", flat=True).distinct()
    rows = due.filter(workspace__in=next_workspaces(Work.RUN, waiting))
    pending = rows.select_for_update(skip_locked=True, of=("self",)).first()
    if pending is not None:
        PendingRun.objects.filter(pk=pending.pk).update(
            due_at=Now() + LEASE, attempts=F("attempts") + 1
        )
    return pending


def _announce(pending: PendingRun, run: Run) -> None:
    if pending.is_announced:
        return
    with transaction.atomic():
        announce_run(run)
        PendingRun.objects.filter(pk=pending.pk).update(is_announced=True)


def _judge(pending: PendingRun) -> None:
    """A fault of one run must not stop the others: it is tried again, and then given up."""
    run = Run.objects.select_related("workspace").filter(pk=pending.run_id).first()
    try:
        if run is not None:
            _announce(pending, run)
            judge_run(run)
    except Exception:
        log.exception("run_not_judged", extra={"run": str(pending.run_id)})
        if pending.attempts + 1 < MOST_ATTEMPTS:
            return
    PendingRun.objects.filter(pk=pending.pk).delete()
