"""Counts that every process of the service adds to, and /metrics shows as sums.

A process keeps its counts in memory and adds them to a hash in the cache every few seconds, so that
counting costs a request nothing. What the cache loses begins at 0 again, which a reader of metrics
understands. What a process counted in its last seconds may be lost with it.
"""

import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from backend.broker import CACHE, cache_client

KEY = "loadsheet:counters"
FLUSH_S = 5.0
# Upper bounds of the buckets of durations, in seconds; the last has none.
BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0, 600.0)
_SEPARATOR = "|"

_lock = threading.Lock()
_counts: dict[str, float] = defaultdict(float)
_flushed_at = time.monotonic()


def count(name: str, *labels: str, by: float = 1.0) -> None:
    """Add to a counter. Labels must be of a small set: each combination is kept."""
    with _lock:
        _counts[_SEPARATOR.join((name, *labels))] += by
    _flush_if_due()


def observe(name: str, seconds: float, *labels: str) -> None:
    """Add a duration to a histogram."""
    bucket = str(bisect_left(BUCKETS_S, seconds))
    with _lock:
        _counts[_SEPARATOR.join((f"{name}_bucket", *labels, bucket))] += 1
        _counts[_SEPARATOR.join((f"{name}_sum", *labels))] += seconds
    _flush_if_due()


def read() -> Mapping[str, Mapping[tuple[str, ...], float]]:
    """The sums of all processes, by name and labels; empty while the cache is away."""
    flush()
    nothing: Mapping[Any, Any] = {}
    stored = CACHE.call(lambda: cache_client().hgetall(KEY), otherwise=nothing)
    sums: dict[str, dict[tuple[str, ...], float]] = defaultdict(dict)
    for field, value in stored.items():
        name, *labels = field.decode().split(_SEPARATOR)
        sums[name][tuple(labels)] = float(value)
    return sums


def flush() -> None:
    """Add what this process counted to the sums; while the cache is away, it is kept for later."""
    global _flushed_at  # noqa: PLW0603  one for the process, under the lock
    with _lock:
        _flushed_at = time.monotonic()
        taken = dict(_counts)
        _counts.clear()
    if taken and not CACHE.call(lambda: _add(taken), otherwise=False):
        with _lock:
            for field, value in taken.items():
                _counts[field] += value


def _flush_if_due() -> None:
    if time.monotonic() - _flushed_at >= FLUSH_S:
        flush()


def _add(counts: Mapping[str, float]) -> bool:
    pipeline = cache_client().pipeline(transaction=True)
    for field, value in counts.items():
        pipeline.hincrbyfloat(KEY, field, value)
    pipeline.execute()
    return True
