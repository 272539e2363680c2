"""The cache for what all processes must count together, in Redis or, while it is away, here."""

from collections.abc import Callable
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache

from backend.broker import CACHE


class SharedCache(BaseCache):
    """A cache in Redis whose loss fails no request.

    Meanwhile each process counts by itself, so that an outage is no open door. It has no `clear`:
    that of RedisCache would empty the whole server.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._shared = RedisCache(server, params)
        self._here = LocMemCache("while Redis is away", params)

    def add(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        return bool(self._ask(lambda cache: cache.add(key, value, timeout, version)))

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        return self._ask(lambda cache: cache.get(key, default, version))

    def set(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        self._ask(lambda cache: cache.set(key, value, timeout, version))

    def touch(self, key: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return bool(self._ask(lambda cache: cache.touch(key, timeout, version)))

    def delete(self, key: Any, version: int | None = None) -> bool:
        return bool(self._ask(lambda cache: cache.delete(key, version)))

    def _ask(self, command: Callable[[BaseCache], Any]) -> Any:
        # In a tuple: None is an answer too.
        answer = CACHE.call(lambda: (command(self._shared),), otherwise=None)
        return command(self._here) if answer is None else answer[0]
