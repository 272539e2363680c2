"""Celery tasks, and the thread of each worker process that judges runs and sends messages."""

from collections.abc import Callable

from celery import shared_task

from backend import counters
from backend.alerts.pending import judge_next
from backend.alerts.tending import forget, look_at_agents
from backend.deliveries.queue import send_next
from backend.ingest.poller import Poller

TEND_TASK = "alerts.tend"
# A message that is being sent when the worker stops is sent again by its id.
STOP_S = 12.0


@shared_task(name=TEND_TASK)  # type: ignore[untyped-decorator]
def tend() -> None:
    """Look for silent agents, and forget what is old."""
    look_at_agents()
    forget()


def judge_and_send(is_stopping: Callable[[], bool]) -> None:
    """Judge the runs that wait and send the messages that are due, one of each in turn."""
    is_more = True
    while is_more and not is_stopping():
        is_judged = judge_next()
        is_more = send_next() or is_judged
    counters.flush()


Poller(judge_and_send, fault="messages_not_polled").run_in_workers(STOP_S)
