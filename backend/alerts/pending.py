"""Runs that wait for the rules: the row is the queue.

A claim moves `due_at` ahead, so a run whose worker died is judged again later.
"""

import logging
import random
import time
from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from backend.alerts.announcing import announce_run
from backend.alerts.evaluation import judge_run
from backend.alerts.models import PendingRun
from backend.runs.models import Run

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=120)
MOST_ATTEMPTS = 3
SHIFT_S = 30.0


def judge_due(*, is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Judge the runs that wait, the first read first; how many."""
    ends, count = time.monotonic() + SHIFT_S, 0
    while not is_stopping() and time.monotonic() < ends:
        pending = _claim()
        if pending is None:
            break
        _judge(pending)
        count += 1
    return count


def _claim() -> PendingRun | None:
    """The first run of a workspace, which lots choose: many runs of one hold up no other."""
    due = PendingRun.objects.filter(due_at__lte=Now(), workspace__deleted_at=None)
    workspaces = list(due.order_by().values_list("workspace", flat=True).distinct())
    if not workspaces:
        return None
    with transaction.atomic():
        rows = due.filter(workspace=random.choice(workspaces))  # noqa: S311  no secret
        pending = rows.select_for_update(skip_locked=True, of=("self",)).first()
        if pending is None:
            return None
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
