"""How often one sender may upload, and one address fail to sign in: moving windows in the cache.

Counting must never cost an upload: with the cache away uploads are let through. Failures are then
counted in this process, so that an outage is no open door.
"""

import hashlib
import ipaddress
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import (
    MovingWindowRateLimiter,
    RateLimiter,
    SlidingWindowCounterRateLimiter,
)

from backend.accounts.addresses import sender_address
from backend.broker import CACHE, limits_storage

# By mail and user: strangers are written to in the name of the service.
INVITATIONS_PER_HOUR = 30
# By person: it reads every row that names the person.
OWN_DATA_PER_HOUR = 5
# By person. Each leaves an event that the audit log keeps for good.
ACTS_PER_DAY = 50_000
# The key of counts that are not of one sender.
ALL_SENDERS = "all"
# What is proved, each counted apart for an account: guessed passwords at the sign-in page, or codes
# in a stolen session, must not keep the owner from the other forms.
PASSWORD, PASSWORD_AGAIN = "sign-in-account", "password-again"
CODE, CODE_AGAIN = "code", "code-again"


def seconds_until_upload(sender: str, *, count: int = 1) -> int:
    """Count `count` uploads of `sender`; 0 when they may go on, else how long to wait."""
    limit = _parsed(f"{settings.UPLOADS_PER_MINUTE}/minute")
    return CACHE.call(lambda: _hit(_shared(), limit, "upload", sender, count=count), otherwise=0)


@dataclass(frozen=True, slots=True)
class Rate:
    """How many requests one sender may still send: `remaining` of `limit`, whole after `reset_s`.

    `wait_s`: how long to wait where this request was one too many, else 0.
    """

    limit: int
    remaining: int
    reset_s: int
    wait_s: int


def count_request(sender: str) -> Rate | None:
    """Count one request of the API; None while the cache is away, and nothing is counted."""
    limit = _parsed(f"{settings.REQUESTS_PER_MINUTE}/minute")
    return CACHE.call(lambda: _count(limit, "request", sender), otherwise=None)


def _count(limit: RateLimitItem, *key: str) -> Rate:
    # Two counters a sender, where a moving window keeps the time of each request.
    counter = _counter()
    is_allowed = counter.hit(limit, *key)
    stats = counter.get_window_stats(limit, *key)
    reset_s = _seconds_until(stats.reset_time, limit)
    return Rate(limit.amount, max(stats.remaining, 0), reset_s, 0 if is_allowed else reset_s)


def seconds_until_preview(viewer: str) -> int:
    """Count one reading of files that are not saved; 0 when it may go on, else how long to wait.

    `viewer`: a user has one name with all tokens (access.name_of_viewer).

    With the cache away it is counted in this process: the parser's time is worth guarding.
    """
    return _seconds_until_next("preview", settings.PREVIEWS_PER_MINUTE, viewer)


def seconds_until_try(address: str) -> int:
    """As `seconds_until_preview`, for a preview from `address` without an account."""
    return _seconds_until_next("try", settings.TRIES_PER_MINUTE, address)


def seconds_until_invitation(user: str) -> int:
    """Count one invitation sent by mail; 0 when it may go on, else how long to wait."""
    return _seconds_until_next("invitation", INVITATIONS_PER_HOUR, user, per="hour")


def seconds_until_act(user: str, *, count: int = 1) -> int:
    """Count acts of one person; 0 when they may be done, else how long to wait."""
    limit = _parsed(f"{ACTS_PER_DAY}/day")
    return CACHE.call(lambda: _hit(_counter(), limit, "act", user, count=count), otherwise=0)


def seconds_until_leak_report(address: str) -> int:
    """Count one report of leaked tokens; 0 when it may go on, else how long to wait."""
    return _seconds_until_next("leak", settings.LEAK_REPORTS_PER_MINUTE, address)


def seconds_until_report(address: str) -> int:
    """Count one report about public content; 0 when it may go on, else how long to wait."""
    return _seconds_until_next("report", settings.REPORTS_PER_HOUR, address, per="hour")


def seconds_until_own_data(user: str) -> int:
    """Count one export of a person's data; 0 when it may go on, else how long to wait."""
    return _seconds_until_next("own-data", OWN_DATA_PER_HOUR, user, per="hour")


def seconds_until_sign_in(address: str, account: str = "", *, proof: str = PASSWORD) -> int:
    """0 when `address` may try to sign in to `account`, else how long to wait. Counts nothing.

    `account` is the name or email address as it was typed, whether there is such an account or
    not; empty for a sign-in link. For other proofs than PASSWORD it is the id of a user.
    """
    waits = (
        _seconds_until_failure(kind, per_hour, key)
        for kind, per_hour, key in _sign_in_limits(address, account, proof)
    )
    return max(waits)


def count_failed_sign_in(address: str, account: str = "", *, proof: str = PASSWORD) -> None:
    """Remember one wrong password, code or link."""
    for kind, per_hour, key in _sign_in_limits(address, account, proof):
        _count_failure(kind, per_hour, key)


def _sign_in_limits(address: str, account: str, proof: str) -> Iterator[tuple[str, int, str]]:
    """Kind, failures an hour, and key of each limit that a failed sign-in counts for."""
    yield "sign-in", settings.FAILED_SIGN_INS_PER_HOUR, address
    yield "sign-in-in-all", settings.FAILED_SIGN_INS_IN_ALL, ALL_SENDERS
    if typed := " ".join(account.split()).casefold():
        # As a hash: what people type is no name to keep, and may be long.
        key = hashlib.sha256(typed.encode()).hexdigest()
        yield proof, settings.FAILED_SIGN_INS_PER_ACCOUNT, key


def seconds_until_link(address: str) -> int:
    """0 when `address` may open links of result sets, else how long to wait. Counts nothing."""
    return _seconds_until_failure("link", settings.LINK_MISSES_PER_MINUTE, address, per="minute")


def count_missed_link(address: str) -> None:
    """Remember one link that leads to no result set: somebody may be guessing."""
    _count_failure("link", settings.LINK_MISSES_PER_MINUTE, address, per="minute")


def seconds_until_token(address: str) -> int:
    """0 when `address` may send another wrong token, else how long to wait. Counts nothing."""
    return _seconds_until_failure("token", settings.FAILED_TOKENS_PER_HOUR, address)


def count_failed_token(address: str) -> None:
    """Remember one wrong token from `address`.

    Apart from sign-ins: an agent with a revoked token must not lock out the people of its office.
    """
    _count_failure("token", settings.FAILED_TOKENS_PER_HOUR, address)


def _seconds_until_next(kind: str, most: int, key: str, *, per: str = "minute") -> int:
    limit = _parsed(f"{most}/{per}")
    return _in_cache_or_here(lambda limiter: _hit(limiter, limit, kind, key))


def _seconds_until_failure(kind: str, most: int, key: str, *, per: str = "hour") -> int:
    limit = _parsed(f"{most}/{per}")

    def wait_s(limiter: RateLimiter) -> int:
        return 0 if limiter.test(limit, kind, key) else _seconds_left(limiter, limit, kind, key)

    return _in_cache_or_here(wait_s)


def _count_failure(kind: str, most: int, key: str, *, per: str = "hour") -> None:
    limit = _parsed(f"{most}/{per}")
    _in_cache_or_here(lambda limiter: int(limiter.hit(limit, kind, key)))


def address_of(meta: Mapping[str, str]) -> str:
    """The sender's address; of an IPv6 address the /64 network, because a host has many."""
    address = sender_address(meta)
    if address is None:
        return "unknown"
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((address, 64), strict=False))


def _in_cache_or_here(ask: Callable[[RateLimiter], int]) -> int:
    """What `ask` returns with the shared counts; with those of this process while the cache is
    away."""
    shared: int | None = CACHE.call(lambda: ask(_shared()), otherwise=None)
    return ask(_of_this_process()) if shared is None else shared


def _hit(limiter: RateLimiter, limit: RateLimitItem, *key: str, count: int = 1) -> int:
    """Count `count`; 0 if that was allowed, else the seconds to wait."""
    is_allowed = limiter.hit(limit, *key, cost=count)
    return 0 if is_allowed else _seconds_left(limiter, limit, *key)


@lru_cache(maxsize=1)
def _shared() -> MovingWindowRateLimiter:
    return MovingWindowRateLimiter(limits_storage())


@lru_cache(maxsize=1)
def _counter() -> SlidingWindowCounterRateLimiter:
    return SlidingWindowCounterRateLimiter(limits_storage())


@lru_cache(maxsize=1)
def _of_this_process() -> MovingWindowRateLimiter:
    return MovingWindowRateLimiter(MemoryStorage())


@lru_cache(maxsize=16)
def _parsed(limit: str) -> RateLimitItem:
    return parse(limit)


def _seconds_left(limiter: RateLimiter, limit: RateLimitItem, *key: str) -> int:
    return _seconds_until(limiter.get_window_stats(limit, *key).reset_time, limit)


def _seconds_until(reset_time: float, limit: RateLimitItem) -> int:
    """Never longer than the limit's window: a clock set back would have senders wait for it."""
    return min(limit.get_expiry(), max(1, math.ceil(reset_time - time.time())))
