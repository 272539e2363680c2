"""Counting by the table of limiters: moving windows in the cache.

Counting must never cost an upload: with the cache away uploads are let through. What guards
passwords and the parser is then counted in this process, so that an outage is no open door.
"""

import ipaddress
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import (
    MovingWindowRateLimiter,
    RateLimiter,
    SlidingWindowCounterRateLimiter,
)

from backend.accounts.limits.addresses import sender_address
from backend.accounts.limits.limiters import REQUESTS, Limiter
from backend.broker import CACHE, limits_storage
from backend.errors import Allowance, TooMany

# A site gets a /48 and has 65,536 networks of /64 in it: together they may do this many times as
# much as one of them.
NETWORKS_OF_A_SITE = 4


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter of a payer: it takes `times` as many as the limiter says."""

    key: str
    times: int = 1


Payer = tuple[Counter, ...]


def payer_of(key: object) -> Payer:
    """Who pays alone, such as a token."""
    return (Counter(str(key)),)


def network_of(meta: Mapping[str, str], prefix: str = "") -> Payer:
    """The network of the sender: an IPv4 address, or a /64 of IPv6 and the /48 around it.

    `prefix`: what is counted apart for each network, such as an account.
    """
    address = sender_address(meta)
    if address is None or address.version == 4:
        return (Counter(f"{prefix}{address or 'unknown'}"),)
    host, site = (ipaddress.ip_network((address, bits), strict=False) for bits in (64, 48))
    return (Counter(f"{prefix}{host}"), Counter(f"{prefix}{site}", NETWORKS_OF_A_SITE))


def address_of(meta: Mapping[str, str]) -> str:
    """The sender's address; of an IPv6 address the /64 network, because a host has many."""
    return network_of(meta)[0].key


def site_of(meta: Mapping[str, str]) -> str:
    """The sender's address; of an IPv6 address the /48 network, because a site has all of it."""
    return network_of(meta)[-1].key


class TooOften(TooMany):
    """A counter of the sender is full."""

    def __init__(self, limiter: Limiter, wait_s: int, *, hint: str = "") -> None:
        allowance = Allowance(limiter.name.replace("_", "-"), limiter.most(), limiter.window_s)
        super().__init__(limiter.sentence, wait_s=wait_s, hint=hint, allowance=allowance)


def require(limiter: Limiter, payer: Payer, *, hint: str = "") -> None:
    """Count one. Raises TooOften."""
    if wait_s := seconds_until(limiter, payer):
        raise TooOften(limiter, wait_s, hint=hint)


def seconds_until(limiter: Limiter, payer: Payer, *, count: int = 1) -> int:
    """Count `count` of the payer; 0 when they may go on, else how long to wait. What is refused
    does not count."""

    def hit(strategies: _Strategies) -> int:
        strategy = strategies.of(limiter)
        if wait_s := _longest_wait(strategy, limiter, payer, count):
            return wait_s
        for counter in payer:
            strategy.hit(_item(limiter, counter), limiter.name, counter.key, cost=count)
        return 0

    return _in_cache_or_here(limiter, hit)


def seconds_left(limiter: Limiter, payer: Payer) -> int:
    """0 when the payer may do one more, else how long to wait. Counts nothing."""
    return _in_cache_or_here(
        limiter, lambda strategies: _longest_wait(strategies.of(limiter), limiter, payer, 1)
    )


@dataclass(frozen=True, slots=True)
class Rate:
    """How many requests one sender may still send: `remaining` of `limit`, whole after `reset_s`.

    `wait_s`: how long to wait where this request was one too many, else 0.
    """

    limit: int
    remaining: int
    reset_s: int
    wait_s: int


def count_request(payer: Payer) -> Rate | None:
    """Count one request of the API; None while the cache is away, and nothing is counted."""

    def count() -> Rate:
        # A step for each counter, no question before. What is refused fills no further counter: a
        # network that goes on shuts no other network of its site out.
        rates: list[Rate] = []
        for counter in payer:
            rates.append(_count_one(counter))
            if rates[-1].wait_s:
                break
        return min(rates, key=lambda rate: (rate.remaining / rate.limit, -rate.wait_s))

    return CACHE.call(count, otherwise=None)


def _count_one(counter: Counter) -> Rate:
    strategy, item = _shared().of(REQUESTS), _item(REQUESTS, counter)
    is_allowed = strategy.hit(item, REQUESTS.name, counter.key)
    stats = strategy.get_window_stats(item, REQUESTS.name, counter.key)
    reset_s = _seconds_until(stats.reset_time, item)
    return Rate(item.amount, max(stats.remaining, 0), reset_s, 0 if is_allowed else reset_s)


def _longest_wait(strategy: RateLimiter, limiter: Limiter, payer: Payer, count: int) -> int:
    waits = (
        _wait(strategy, _item(limiter, each), (limiter.name, each.key), count) for each in payer
    )
    return max(waits, default=0)


def _wait(strategy: RateLimiter, item: RateLimitItem, key: tuple[str, str], count: int) -> int:
    if strategy.test(item, *key, cost=count):
        return 0
    return _seconds_until(strategy.get_window_stats(item, *key).reset_time, item)


def _in_cache_or_here(limiter: Limiter, ask: Callable[["_Strategies"], int]) -> int:
    """What `ask` returns with the shared counts; while the cache is away, with those of this
    process, or 0 where the limiter keeps none."""
    shared: int | None = CACHE.call(lambda: ask(_shared()), otherwise=None)
    if shared is not None:
        return shared
    return ask(_of_this_process()) if limiter.is_kept_while_away else 0


@dataclass(frozen=True, slots=True)
class _Strategies:
    """The two ways to count in one storage."""

    exact: MovingWindowRateLimiter
    # Two counters a payer, where a moving window keeps the time of each request.
    estimated: SlidingWindowCounterRateLimiter

    def of(self, limiter: Limiter) -> RateLimiter:
        return self.exact if limiter.is_exact else self.estimated


@lru_cache(maxsize=1)
def _shared() -> _Strategies:
    storage = limits_storage()
    return _Strategies(MovingWindowRateLimiter(storage), SlidingWindowCounterRateLimiter(storage))


@lru_cache(maxsize=1)
def _of_this_process() -> _Strategies:
    storage = MemoryStorage()
    return _Strategies(MovingWindowRateLimiter(storage), SlidingWindowCounterRateLimiter(storage))


def _item(limiter: Limiter, counter: Counter) -> RateLimitItem:
    return _parsed(f"{limiter.most() * counter.times}/{limiter.per}")


@lru_cache(maxsize=64)
def _parsed(limit: str) -> RateLimitItem:
    return parse(limit)


def _seconds_until(reset_time: float, limit: RateLimitItem) -> int:
    """Never longer than the limit's window: a clock set back would have senders wait for it."""
    return min(limit.get_expiry(), max(1, math.ceil(reset_time - time.time())))
