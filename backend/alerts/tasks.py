"""Celery tasks, and the thread of each worker process that judges runs and sends messages."""

from __future__ import annotations

import logging
import random
import threading
from typing import Any

from celery import shared_task
from celery.signals import worker_process_init, worker_process_shutdown
from django.conf import settings
from django.db import Error, close_old_connections

from backend import counters
from backend.alerts.pending import judge_due
from backend.alerts.tending import forget, look_at_agents
from backend.deliveries.queue import send_due

log = logging.getLogger(__name__)

TEND_TASK = "alerts.tend"
# A message that is being sent when the worker stops is sent again by its id.
STOP_S = 12.0


@shared_task(name=TEND_TASK)  # type: ignore[untyped-decorator]
def tend() -> None:
    """Look for silent agents, and forget what is old."""
    look_at_agents()
    forget()


class Messenger:
    """A thread that judges runs and sends messages every `POLL_INTERVAL_S`, give or take a half."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="messenger", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns when the work at hand has ended, or after STOP_S."""
        self._stopping.set()
        self._thread.join(STOP_S)

    def _run(self) -> None:
        while not self._stopping.wait(settings.POLL_INTERVAL_S * random.uniform(0.5, 1.5)):  # noqa: S311
            self.work()

    def work(self) -> None:
        """Judge and send what is due; an outage of the database is logged."""
        close_old_connections()
        try:
            judge_due(is_stopping=self._stopping.is_set)
            send_due(is_stopping=self._stopping.is_set)
            counters.flush()
        except Error as error:
            log.warning("messages_not_polled", extra={"reason": str(error)})
        except Exception:  # the thread must outlive it
            log.exception("messages_not_polled")


_messengers: list[Messenger] = []


@worker_process_init.connect  # type: ignore[untyped-decorator]
def start_messenger(**_: Any) -> None:
    _messengers.append(Messenger())
    _messengers[-1].start()


@worker_process_shutdown.connect  # type: ignore[untyped-decorator]
def stop_messenger(**_: Any) -> None:
    while _messengers:
        _messengers.pop().stop()
