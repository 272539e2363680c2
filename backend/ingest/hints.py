"""One hint for many uploads: a thread sends it, so that no request waits for the broker."""

from __future__ import annotations

import os
import threading
import time

from backend.ingest import queue

# Uploads that come this soon after a hint share the next one.
GAP_S = 0.02


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
            queue.hint()
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
