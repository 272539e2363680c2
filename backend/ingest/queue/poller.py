"""A thread that looks for work by itself."""

import logging
import random
import threading
from collections.abc import Callable

from celery.signals import worker_process_init, worker_process_shutdown
from django.conf import settings
from django.db import Error, close_old_connections

log = logging.getLogger(__name__)


class Poller:
    """A thread that does what is due every `POLL_INTERVAL_S` seconds, give or take a half.

    `work` does it until the function that it gets says to stop. `fault` is what is logged where
    it could not.
    """

    def __init__(self, work: Callable[[Callable[[], bool]], None], *, fault: str) -> None:
        self._work = work
        self._fault = fault
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def run_in_workers(self, patience_s: float | None = None) -> None:
        """Start with each process of a Celery worker, and stop with it."""
        worker_process_init.connect(lambda **_: self.start(), weak=False)
        worker_process_shutdown.connect(lambda **_: self.stop(patience_s), weak=False)

    def start(self) -> None:
        # Not made before: a worker forks, and its child would take the thread for an ended one.
        self._thread = threading.Thread(target=self._run, name="poller", daemon=True)
        self._thread.start()

    def stop(self, patience_s: float | None = None) -> None:
        """Returns when the work at hand has ended, or after `patience_s`."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(patience_s)

    def _run(self) -> None:
        while not self._stopping.wait(settings.POLL_INTERVAL_S * random.uniform(0.5, 1.5)):  # noqa: S311
            self.poll()

    def poll(self) -> None:
        """Do what is due; an outage of the database is logged."""
        close_old_connections()
        try:
            self._work(self._stopping.is_set)
        except Error as error:
            log.warning(self._fault, extra={"reason": str(error)})
        except Exception:  # the thread must go on after any error
            log.exception(self._fault)
