"""Wall clock for records, monotonic clock for durations, and the offset of the service's clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime


def utc_now() -> str:
    """ISO 8601 to the millisecond, such as 2026-01-02T03:04:05.678Z."""
    now = datetime.now(timezone.utc)
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class TimeAnswer:
    """One answer of the service, in seconds since 1970: sent and received by this machine's clock.

    `service_s` is the service's time to the microsecond; None if only the Date header gives it.
    """

    sent_s: float
    received_s: float
    date: str
    service_s: float | None = None

    @property
    def bounds_s(self) -> tuple[float, float] | None:
        """Between which two times the service's clock was; Date has whole seconds."""
        if self.service_s is not None:
            return self.service_s, self.service_s
        try:
            date_s = parsedate_to_datetime(self.date).timestamp()
        except (TypeError, ValueError, OverflowError):
            return None
        return date_s, date_s + 1


@dataclass(frozen=True)
class Offset:
    """The service's clock minus this machine's lies within ± `uncertainty_s` of `offset_s`."""

    offset_s: float
    uncertainty_s: float
    round_trip_s: float


def offset_of(answers: Iterable[TimeAnswer]) -> Offset | None:
    """The offset that fits all answers; None when no answer has a time, or answers contradict.

    The service's clock showed its time at some moment between sending and receiving: each answer
    gives an interval, and the offset lies in all of them.
    """
    least, most, trips = float("-inf"), float("inf"), []
    for answer in answers:
        bounds = answer.bounds_s
        if bounds is None:
            continue
        least = max(least, bounds[0] - answer.received_s)
        most = min(most, bounds[1] - answer.sent_s)
        trips.append(answer.received_s - answer.sent_s)
    if not trips or least > most:
        return None
    return Offset(
        offset_s=round((least + most) / 2, 4),
        uncertainty_s=round((most - least) / 2, 4),
        round_trip_s=round(min(trips), 4),
    )
