"""How often one sender may upload, and one address fail to sign in: moving windows in the cache.

Counting must never cost an upload: with the cache away uploads are let through. Failures are then
counted in this process, so that an outage is no open door.
"""

from __future__ import annotations

import ipaddress
import logging
import math
import time
from collections.abc import Mapping
from functools import lru_cache

from django.conf import settings
from limits import RateLimitItem, parse
from limits.storage import MemoryStorage, RedisStorage
from limits.strategies import MovingWindowRateLimiter
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

CACHE_TIMEOUT_S = 0.5
QUIET_AFTER_ERROR_S = 5.0
_quiet_until = 0.0


def seconds_until_upload(sender: str) -> int:
    """Count one upload of `sender`; 0 when it may go on, else how long to wait."""
    limit = _parsed(f"{settings.UPLOADS_PER_MINUTE}/minute")
    if _is_quiet():
        return 0
    try:
        if _shared().hit(limit, "upload", sender):
            return 0
        return _seconds_left(_shared(), limit, "upload", sender)
    except RedisError:
        _be_quiet()
        return 0


def seconds_until_preview(user: str) -> int:
    """Count one reading of files that are not saved; 0 when it may go on, else how long to wait.

    With the cache away it is counted in this process: the parser's time is worth guarding.
    """
    limit = _parsed(f"{settings.PREVIEWS_PER_MINUTE}/minute")
    for limiter in _limiters():
        try:
            if limiter.hit(limit, "preview", user):
                return 0
            return _seconds_left(limiter, limit, "preview", user)
        except RedisError:
            _be_quiet()
    return 0


def seconds_until_sign_in(address: str) -> int:
    """0 when `address` may try to sign in, else how long to wait. Counts nothing."""
    return _seconds_until_failure("sign-in", settings.FAILED_SIGN_INS_PER_HOUR, address)


def count_failed_sign_in(address: str) -> None:
    """Remember one wrong password or link from `address`."""
    _count_failure("sign-in", settings.FAILED_SIGN_INS_PER_HOUR, address)


def seconds_until_token(address: str) -> int:
    """0 when `address` may send another wrong token, else how long to wait. Counts nothing."""
    return _seconds_until_failure("token", settings.FAILED_TOKENS_PER_HOUR, address)


def count_failed_token(address: str) -> None:
    """Remember one wrong token from `address`.

    Apart from sign-ins: an agent with a revoked token must not lock out the people of its office.
    """
    _count_failure("token", settings.FAILED_TOKENS_PER_HOUR, address)


def _seconds_until_failure(kind: str, per_hour: int, address: str) -> int:
    limit = _parsed(f"{per_hour}/hour")
    for limiter in _limiters():
        try:
            if limiter.test(limit, kind, address):
                return 0
            return _seconds_left(limiter, limit, kind, address)
        except RedisError:
            _be_quiet()
    return 0


def _count_failure(kind: str, per_hour: int, address: str) -> None:
    limit = _parsed(f"{per_hour}/hour")
    for limiter in _limiters():
        try:
            limiter.hit(limit, kind, address)
        except RedisError:
            _be_quiet()
        else:
            return


def address_of(meta: Mapping[str, str]) -> str:
    """Who asks, for counting: the address, or the network of an IPv6 one (a host has many)."""
    given = meta.get("REMOTE_ADDR", "")
    if settings.TRUST_PROXY:
        # The last entry is our own proxy's word; those before it are anybody's.
        given = meta.get("HTTP_X_FORWARDED_FOR", given).rpartition(",")[2].strip()
    try:
        address = ipaddress.ip_address(given)
    except ValueError:
        return "unknown"
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((address, 64), strict=False))


def _limiters() -> list[MovingWindowRateLimiter]:
    return [_own()] if _is_quiet() else [_shared(), _own()]


@lru_cache(maxsize=1)
def _shared() -> MovingWindowRateLimiter:
    storage = RedisStorage(
        settings.CACHE_URL,
        socket_timeout=CACHE_TIMEOUT_S,
        socket_connect_timeout=CACHE_TIMEOUT_S,
    )
    return MovingWindowRateLimiter(storage)


@lru_cache(maxsize=1)
def _own() -> MovingWindowRateLimiter:
    return MovingWindowRateLimiter(MemoryStorage())


@lru_cache(maxsize=8)
def _parsed(limit: str) -> RateLimitItem:
    return parse(limit)


def _seconds_left(limiter: MovingWindowRateLimiter, limit: RateLimitItem, *who: str) -> int:
    return max(1, math.ceil(limiter.get_window_stats(limit, *who).reset_time - time.time()))


def _is_quiet() -> bool:
    return time.monotonic() < _quiet_until


def _be_quiet() -> None:
    """A cache that is away is not asked again at once: each try would wait for its timeout."""
    global _quiet_until  # noqa: PLW0603  one cache, one process-wide memory of its last failure
    _quiet_until = time.monotonic() + QUIET_AFTER_ERROR_S
    log.warning("limits_not_counted", exc_info=True)
