"""Waiting for other processes, and what is done meanwhile."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

import httpx

END_WITHIN_S = 120.0


def wait_until(is_so: Callable[[], object], within_s: float, *, every_s: float = 0.1) -> bool:
    """Whether it was so in time."""
    deadline = time.monotonic() + within_s
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(every_s)
    return True


def is_answering(url: str, *, within_s: float = 5) -> bool:
    """Whether the address is answered with success."""
    try:
        return httpx.get(url, timeout=within_s, trust_env=False).is_success
    except httpx.HTTPError:
        return False


@contextlib.contextmanager
def beside(task: Callable[[], object], *, threads: int = 1, every_s: float = 0.0) -> Iterator[None]:
    """Calls the task again and again in threads while the block runs, after a rest each time."""
    stopping = threading.Event()

    def repeat() -> None:
        while not stopping.wait(every_s):
            task()

    running = [threading.Thread(target=repeat, daemon=True) for _ in range(threads)]
    for thread in running:
        thread.start()
    try:
        yield
    finally:
        stopping.set()
        for thread in running:
            thread.join(END_WITHIN_S)
