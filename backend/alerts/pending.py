"""Runs that wait for the rules: the row is the queue.

A claim holds until its lease ends. Then the run of a worker that died is judged again, and given up
after as many attempts as one with a fault: what ends a worker would end the next one.
"""

import logging
import time
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from backend.accounts.workspace.turns import Work, begin_turn, end_turn, next_workspaces
from backend.alerts.announcing import announce_run
from backend.alerts.evaluation import VIEW_S, judge_alike, note_problem, rules_by_view
from backend.alerts.models import PendingRun
from backend.runs.models import Run

log = logging.getLogger(__name__)

# After so long, the views that are left wait for the next turn of their payer.
BUDGET_S = 20.0
LEASE = timedelta(seconds=2 * (BUDGET_S + VIEW_S))
PAUSE = timedelta(seconds=120)
MOST_ATTEMPTS = 3


def judge_next() -> bool:
    """Judge a run that waits; False where none does."""
    pending = _claim()
    if pending is not None:
        started = time.monotonic()
        _work_on(pending)
        end_turn(Work.RUN, pending.workspace_id, time.monotonic() - started)
    return pending is not None


@transaction.atomic
def _claim() -> PendingRun | None:
    """Take a run that is due; None when none is.

    One run of a person is judged at a time, in turn with those of all others.
    """
    is_free = Q(lease_until=None) | Q(lease_until__lte=Now())
    busy = PendingRun.objects.filter(lease_until__gt=Now()).order_by()
    due = PendingRun.objects.filter(is_free, due_at__lte=Now(), workspace__deleted_at=None)
    waiting = due.order_by().values_list("workspace", flat=True).distinct()
    following = next_workspaces(Work.RUN, waiting, busy.values_list("workspace", flat=True))
    rows = due.filter(workspace__in=following)
    pending = rows.select_for_update(skip_locked=True, of=("self",)).first()
    if pending is not None:
        begin_turn(Work.RUN, pending.workspace_id)
        pending.attempts += 1
        PendingRun.objects.filter(pk=pending.pk).update(
            lease_until=Now() + LEASE, attempts=pending.attempts
        )
    return pending


def _work_on(pending: PendingRun) -> None:
    """A fault of one view, or of one run, must not stop the others: it is tried again, and then
    given up."""
    run = Run.objects.select_related("workspace").filter(pk=pending.run_id).first()
    judged = list(pending.judged or ())
    if run is None:
        _held(pending).delete()
    elif pending.attempts > MOST_ATTEMPTS:
        # The worker ended in each attempt.
        _give_up(pending, judged)
    else:
        _judge(pending, run, judged)


def _judge(pending: PendingRun, run: Run, judged: list[UUID]) -> None:
    """`judged`: the ids of the rules that are done; those of this turn are added."""
    deadline = time.monotonic() + BUDGET_S
    before = len(judged)
    try:
        _announce(pending, run)
        groups, has_fault = rules_by_view(run, without=judged), False
    except Exception:
        _log_fault(pending)
        groups, has_fault = [], True
    for rules in groups:
        if len(judged) > before and time.monotonic() > deadline:
            # Something was judged, so no attempt is lost.
            _held(pending).update(due_at=Now(), lease_until=None, attempts=0, judged=judged)
            return
        try:
            judge_alike(rules, run)
        except Exception:
            _log_fault(pending)
            has_fault = True
        else:
            judged += [rule.pk for rule in rules]
    if not has_fault:
        _held(pending).delete()
    elif pending.attempts >= MOST_ATTEMPTS:
        _give_up(pending, judged)
    else:
        _held(pending).update(due_at=Now() + PAUSE, lease_until=None, judged=judged)


def _announce(pending: PendingRun, run: Run) -> None:
    if pending.is_announced:
        return
    with transaction.atomic():
        announce_run(run)
        PendingRun.objects.filter(pk=pending.pk).update(is_announced=True)


def _log_fault(pending: PendingRun) -> None:
    log.exception("run_not_judged", extra={"run": str(pending.run_id)})


def _give_up(pending: PendingRun, judged: Sequence[UUID]) -> None:
    """Judge it no more, and say so at the rules that it is missing for."""
    log.error("run_given_up", extra={"run": str(pending.run_id)})
    note_problem(
        pending.workspace_id,
        f"The run {pending.run_id} was not judged, because Loadsheet failed {MOST_ATTEMPTS} times. "
        "Ask the operator to look for run_given_up in the log.",
        without=judged,
    )
    _held(pending).delete()


def _held(pending: PendingRun) -> QuerySet[PendingRun]:
    """The row, unless its lease ended and another worker took it, or the run was read anew."""
    return PendingRun.objects.filter(pk=pending.pk, attempts=pending.attempts)
