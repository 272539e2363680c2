"""Runs that wait for the rules: the row is the queue.

A claim holds until its lease ends; the lease is renewed after each view. If a worker dies, its run
is judged again by the rules that are left. The run is given up after as many attempts as a run with
a fault, because what ended one worker would end the next. The verdict of a view is stored together
with the note that the view was judged, and only while the claim holds.
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
from backend.alerts.evaluation import (
    VIEW_S,
    Judgement,
    judge_alike,
    note_problem,
    rules_by_view,
)
from backend.alerts.models import PendingRun
from backend.runs.models import Run
from backend.transactions import whole

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
        pending.fence += 1
        PendingRun.objects.filter(pk=pending.pk).update(
            lease_until=Now() + LEASE, attempts=pending.attempts, fence=pending.fence
        )
    return pending


def _work_on(pending: PendingRun) -> None:
    """A fault of one view, or of one run, must not stop the others: it is tried again, and then
    given up."""
    run = Run.objects.select_related("workspace").filter(pk=pending.run_id).first()
    judged = pending.judged or ()
    if run is None:
        _held(pending).delete()
    elif pending.attempts > MOST_ATTEMPTS:
        # The worker ended in each attempt.
        _give_up(pending, judged)
    else:
        _judge(pending, run, judged)


def _judge(pending: PendingRun, run: Run, judged: Sequence[UUID]) -> None:
    """`judged`: the ids of the rules that are done."""
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
            _held(pending).update(due_at=Now(), lease_until=None)
            return
        done = [*judged, *(rule.pk for rule in rules)]
        try:
            is_held = _store(pending, judge_alike(rules, run), done)
        except Exception:
            _log_fault(pending)
            has_fault = True
            continue
        if not is_held:
            log.info("run_taken_over", extra={"run": str(run.pk)})
            return
        judged = done
    if not has_fault:
        _held(pending).delete()
    elif pending.attempts >= MOST_ATTEMPTS:
        _give_up(pending, judged)
    else:
        # What was judged in this turn does not make up for the fault.
        _held(pending).update(due_at=Now() + PAUSE, lease_until=None, attempts=pending.attempts)


@whole
def _store(pending: PendingRun, judgement: Judgement, done: Sequence[UUID]) -> bool:
    """Store what rules say and which are `done`, and renew the lease; whether the claim holds.

    Something was judged, so no attempt is lost if the worker ends now.
    """
    # First: the row stays locked until what follows is written, so nobody else claims it.
    if not _held(pending).update(judged=done, attempts=0, lease_until=Now() + LEASE):
        return False
    judgement.store()
    return True


@whole
def _announce(pending: PendingRun, run: Run) -> None:
    """Tell the channels of the run, once."""
    if _held(pending).filter(is_announced=False).update(is_announced=True):
        announce_run(run)


def _log_fault(pending: PendingRun) -> None:
    log.exception("run_not_judged", extra={"run": str(pending.run_id)})


@whole
def _give_up(pending: PendingRun, judged: Sequence[UUID]) -> None:
    """Judge it no more, and say so at the rules that it is missing for."""
    if not _held(pending).delete()[0]:
        return
    log.error("run_given_up", extra={"run": str(pending.run_id)})
    note_problem(
        pending.workspace_id,
        f"The run {pending.run_id} was not judged, because Loadsheet failed {MOST_ATTEMPTS} times. "
        "Ask the operator to look for run_given_up in the log.",
        without=judged,
    )


def _held(pending: PendingRun) -> QuerySet[PendingRun]:
    """The row, unless another worker took it after the lease ended, or the run was read anew, which
    gives it another `due_at`."""
    return PendingRun.objects.filter(pk=pending.pk, due_at=pending.due_at, fence=pending.fence)
