"""When to send again, and how long to wait. Pure: no network, no clock of its own."""

from __future__ import annotations

from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from enum import Enum

FIRST_DELAY_S = 1.0
LONGEST_DELAY_S = 300.0
LONGEST_RETRY_AFTER_S = 3600.0

# 424: the service no longer has some parts, so they are sent again. 425: the upload has a time that
# lies in the future by the service's clock.
TOO_EARLY = 425
RETRY_STATUSES = frozenset({408, 424, TOO_EARLY, 429, 500, 502, 503, 504, 507})
REJECT_STATUSES = frozenset({400, 409, 413, 415, 422})


class Verdict(Enum):
    """What an answer means for the upload."""

    STORED = "stored"  # the service has it, durably
    RETRY = "retry"  # send again later
    REJECT = "reject"  # the service will never take this upload
    HOLD = "hold"  # a person has to change the token or the address


def verdict(status: int) -> Verdict:
    """What to do after an answer with this status."""
    if 200 <= status < 300:
        return Verdict.STORED
    if status in RETRY_STATUSES:
        return Verdict.RETRY
    if status in REJECT_STATUSES:
        return Verdict.REJECT
    # 401, 403, and every other status (404, a redirect): no reason to lose a result.
    return Verdict.HOLD


def is_too_early(status: int | None, retry_after_s: float | None) -> bool:
    """Whether a time of the upload lies so far in the future that nobody waits for it."""
    return status == TOO_EARLY and (retry_after_s or 0.0) > LONGEST_RETRY_AFTER_S


def delay_s(attempt: int, *, draw: float, retry_after_s: float | None = None) -> float:
    """Full jitter: the share `draw` (0 to 1) of a doubling ceiling; at least Retry-After.

    `attempt` counts from 0. https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
    """
    doublings = float(2 ** min(attempt, 30))
    ceiling = min(LONGEST_DELAY_S, FIRST_DELAY_S * doublings)
    wait = draw * ceiling
    if retry_after_s is None:
        return wait
    return max(wait, min(retry_after_s, LONGEST_RETRY_AFTER_S))


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds, or an HTTP date; None when absent or not understood."""
    if value is None:
        return None
    seconds = value.strip()
    # Python also takes “²” for a digit, which is no number.
    if seconds.isascii() and seconds.isdigit():
        return float(seconds)
    try:
        when = parsedate_to_datetime(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=timezone.utc)
    return max((when - now).total_seconds(), 0.0)
