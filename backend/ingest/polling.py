"""Each worker process looks for uploads by itself, so that a lost hint or broker costs seconds.

The look is one query by the database's clock: neither the broker nor the clock of this machine has
a part in it. It happens in a thread of the worker's process, beside the one that follows hints.
"""

from __future__ import annotations

import logging
import random
import threading

from django.conf import settings
from django.db import Error, close_old_connections

from backend.ingest.worker import READING, drain

log = logging.getLogger(__name__)


class Poller:
    """A thread that reads what is due every `POLL_INTERVAL_S` seconds, give or take a half."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="poller", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns when the upload that is being read has ended."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(settings.POLL_INTERVAL_S * random.uniform(0.5, 1.5)):  # noqa: S311
            # Where a hint is being followed, that work is done already.
            if not READING.locked():
                self.poll()

    def poll(self) -> None:
        """Read what is due; an outage of the database is logged."""
        close_old_connections()
        try:
            drain(is_stopping=self._stopping.is_set)
        except Error as error:
            log.warning("queue_not_polled", extra={"reason": str(error)})
        except Exception:  # the thread must outlive it
            log.exception("queue_not_polled")
