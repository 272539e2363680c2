"""How long work keeps the other threads of its process waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any


class Held:
    """A context: how long this thread worked at most before another thread could go on.

    It counts CPU time, without that of other programs. A thread that always wants to run takes the
    lock of the interpreter whenever it can, so call `sys.setswitchinterval(0.0005)` before: else
    that thread waits 5 ms for each turn.
    """

    def __enter__(self) -> Held:
        self.longest_s = 0.0
        self._clock = time.pthread_getcpuclockid(threading.get_ident())
        self._stopping = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._watch.join()

    def _look(self) -> None:
        before_s = time.clock_gettime(self._clock)
        while not self._stopping.is_set():
            worked_s = time.clock_gettime(self._clock)
            self.longest_s = max(self.longest_s, worked_s - before_s)
            before_s = worked_s


def least_held_s(runs: int, work: Callable[..., Any], *arguments: Any) -> float:
    """The least of the longest times of several runs: a step that is long is so in each of them;
    where the watching thread itself had to wait for a processor, it is so in one."""
    longest = []
    for _ in range(runs):
        with Held() as held:
            work(*arguments)
        longest.append(held.longest_s)
    return min(longest)
