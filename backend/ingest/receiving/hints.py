"""Hints: a message through the broker wakes a worker, which then claims row after row.

Hints may be lost, doubled or forged: workers also look by themselves (worker.py). One hint is
enough for many uploads, and a thread sends it, so that no request waits for the broker.
"""

import os
import threading
import time

from celery import current_app

from backend.broker import BROKER, broker_client

DRAIN_TASK = "ingest.drain"
# Set in the broker while a hint is on its way. It expires by itself, because hints can be lost.
HINTED_KEY = "loadsheet:hinted"
HINTED_S = 2
MAX_WAITING_TASKS = 100
# Uploads that come this soon after a hint share the next one.
GAP_S = 0.02


def hint() -> None:
    """Wake a worker, unless a hint is on its way already. Never raises: workers poll as well.

    To be called after the commit of what is due. Whoever follows the hint takes the key away
    before looking for rows, so one that was committed while the key stood is found.
    """
    BROKER.call(_hint_once, otherwise=None)


def _hint_once() -> None:
    broker = broker_client()
    is_first = broker.set(HINTED_KEY, 1, nx=True, ex=HINTED_S)
    # Without workers, hints would pile up for as long as uploads come.
    if is_first and broker.llen(current_app.conf.task_default_queue) < MAX_WAITING_TASKS:
        _send_hint()


def hint_arrived() -> None:
    """The next hint is to be sent: called before looking for what is due."""
    BROKER.call(lambda: broker_client().delete(HINTED_KEY), otherwise=None)


def _send_hint() -> None:
    # Without an end: a worker whose clock is ahead would take every hint for an old one.
    current_app.send_task(DRAIN_TASK, retry=False)


class HintSender:
    """Sends a hint soon after it is asked to; asked again meanwhile, it sends one more after it."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._is_asked = threading.Event()
        threading.Thread(target=self._run, name="hints", daemon=True).start()

    def ask(self) -> None:
        """To be called after the commit of what is due."""
        self._is_asked.set()

    def _run(self) -> None:
        while self._is_asked.wait():
            self._is_asked.clear()
            hint()
            time.sleep(GAP_S)


_sender: HintSender | None = None
_lock = threading.Lock()


def hint_soon() -> None:
    """Wake a worker within GAP_S; never raises and never waits."""
    global _sender  # noqa: PLW0603  the sender of this process
    if _sender is None or _sender.pid != os.getpid():
        with _lock:
            _sender = HintSender()
    _sender.ask()
