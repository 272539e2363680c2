"""Waiting for other processes."""

import time
from collections.abc import Callable

import httpx


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
