"""Redis (or Valkey): the clients, their timeouts, and what happens while it is away.

Nothing of value is lost with Redis: it carries hints for workers, counts of requests and answers
that can be computed again. So a request never fails because of it, and never waits for it twice.
"""

import logging
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from django.conf import settings
from django.core.cache import caches
from limits.storage import RedisStorage
from redis import Redis
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

PAUSE_S = 5.0
Value = TypeVar("Value")


class Guard:
    """Sends nothing to a failed server for PAUSE_S: else each request would wait for its timeout.

    One failure is enough. After the pause every thread may try again; no thread waits for another.
    """

    def __init__(self, name: str, errors: type[Exception] = RedisError) -> None:
        self._name, self._errors = name, errors
        self._paused_until = 0.0

    @property
    def is_paused(self) -> bool:
        """Whether the server is left alone now."""
        return time.monotonic() < self._paused_until

    def pause(self, seconds: float = PAUSE_S) -> None:
        """Leave the server alone for this long."""
        self._paused_until = time.monotonic() + seconds

    def call(self, command: Callable[[], Value], *, otherwise: Value) -> Value:
        """What `command` returns; `otherwise` if it fails with one of `errors`, or in a pause."""
        if self.is_paused:
            return otherwise
        try:
            return command()
        except self._errors:
            self.pause()
            log.warning("redis_away", extra={"server": self._name}, exc_info=True)
            return otherwise


def _timeouts() -> dict[str, Any]:
    seconds = settings.REDIS_TIMEOUT_S
    return {"socket_timeout": seconds, "socket_connect_timeout": seconds}


# Celery wraps the errors of Redis in others.
BROKER = Guard("broker", errors=Exception)
CACHE = Guard("cache")
ANSWERS = Guard("answers")


@lru_cache(maxsize=1)
def broker_client() -> Redis:
    """The Redis that carries hints to workers."""
    return Redis.from_url(settings.REDIS_URL, **_timeouts())


@lru_cache(maxsize=1)
def cache_client() -> Redis:
    """The Redis of counts, which may lose them at any time."""
    return Redis.from_url(settings.CACHE_URL, **_timeouts())


@lru_cache(maxsize=1)
def answers_client() -> Redis:
    """The Redis of kept answers, which may lose them at any time."""
    return Redis.from_url(settings.ANSWERS_URL, **_timeouts())


def forget_answers() -> None:
    """Remove every kept answer: its key does not tell whose data it shows."""
    ANSWERS.call(_forget_answers, otherwise=None)


def _forget_answers() -> None:
    client = answers_client()
    for key in client.scan_iter(match=caches["answers"].make_key("*"), count=1000):
        client.unlink(key)


@lru_cache(maxsize=1)
def limits_storage() -> RedisStorage:
    """Where the counts of requests lie that all processes share."""
    return RedisStorage(settings.CACHE_URL, **_timeouts())
