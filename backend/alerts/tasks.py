"""Celery tasks, and the thread of each worker process that judges runs and sends messages."""

from collections.abc import Callable

from celery import shared_task

from backend import counters
from backend.alerts.pending import judge_due
from backend.alerts.tending import forget, look_at_agents
from backend.deliveries.queue import send_due
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
    """Judge the runs that wait, and send the messages that are due."""
    judge_due(is_stopping=is_stopping)
    send_due(is_stopping=is_stopping)
    counters.flush()


Poller(judge_and_send, fault="messages_not_polled").run_in_workers(STOP_S)
