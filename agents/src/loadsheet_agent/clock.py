"""Wall clock for records, monotonic clock for durations, and how far the service's clock is off."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime


def utc_now() -> str:
    now = datetime.now(timezone.utc)
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class Asked:
    """One answer of the service: when it was asked and answered here, and its Date header."""

    sent_s: float
    received_s: float
    date: str


@dataclass(frozen=True)
class Offset:
    """The service's clock minus ours lies within ± `uncertainty_s` of `offset_s`."""

    offset_s: float
    uncertainty_s: float
    round_trip_s: float


def offset_of(answers: Iterable[Asked]) -> Offset | None:
    """What all answers together allow; None when none has a date or they contradict each other.

    A Date has whole seconds, so the service's clock was within [date, date + 1 s) at some moment
    between sending and receiving: each answer gives an interval, and the truth is in all of them.
    """
    least, most, trips = float("-inf"), float("inf"), []
    for answer in answers:
        try:
            date_s = parsedate_to_datetime(answer.date).timestamp()
        except (TypeError, ValueError):
            continue
        least = max(least, date_s - answer.received_s)
        most = min(most, date_s + 1 - answer.sent_s)
        trips.append(answer.received_s - answer.sent_s)
    if not trips or least > most:
        return None
    return Offset(
        offset_s=round((least + most) / 2, 4),
        uncertainty_s=round((most - least) / 2, 4),
        round_trip_s=round(min(trips), 4),
    )
