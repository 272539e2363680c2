"""Celery tasks, and the threads of each worker process that judge runs and send messages."""

from collections.abc import Callable

from celery import shared_task

from backend import counters
from backend.accounts.workspace.turns import forget_turns, guarded
from backend.alerts.pending import judge_next
from backend.alerts.tending import forget_suspicions, look_at_agents
from backend.deliveries.queue import forget_old, send_next
from backend.ingest.queue.poller import Poller

TEND_TASK = "alerts.tend"
# A message that is being sent when the worker stops is sent again by its id.
STOP_S = 12.0


@shared_task(name=TEND_TASK)  # type: ignore[untyped-decorator]
def tend() -> None:
    """Look for silent agents, and forget what is old. A fault of one step stops no other."""
    for step in (look_at_agents, forget_old, forget_turns, forget_suspicions):
        with guarded("step_failed", step=step.__name__):
            step()


def judge(is_stopping: Callable[[], bool]) -> None:
    """Judge the runs that wait."""
    while not is_stopping() and judge_next():
        counters.flush()


def send(is_stopping: Callable[[], bool]) -> None:
    """Send the messages that are due."""
    while not is_stopping() and send_next():
        counters.flush()


# Apart, because a receiver that does not answer takes 10 s.
Poller(judge, fault="runs_not_judged").run_in_workers(STOP_S)
Poller(send, fault="messages_not_polled").run_in_workers(STOP_S)
