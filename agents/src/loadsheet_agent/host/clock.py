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
    """One answer of the service: when it was asked and answered here, and the time it told.

    `told_s`, to the microsecond, where the answer holds it; else only the Date header stands.
    """

    sent_s: float
    received_s: float
    date: str
    told_s: float | None = None

    @property
    def moment_s(self) -> tuple[float, float] | None:
        """Between which two times the service's clock was when it answered: Date has seconds."""
        if self.told_s is not None:
            return self.told_s, self.told_s
        try:
            date_s = parsedate_to_datetime(self.date).timestamp()
        except (TypeError, ValueError):
            return None
        return date_s, date_s + 1


@dataclass(frozen=True)
class Offset:
    """The service's clock minus ours lies within ± `uncertainty_s` of `offset_s`."""

    offset_s: float
    uncertainty_s: float
    round_trip_s: float


def offset_of(answers: Iterable[Asked]) -> Offset | None:
    """What all answers together allow; None when none has a date or they contradict each other.

    The service's clock was at the time it told at some moment between sending and receiving: each
    answer gives an interval, and the truth is in all of them.
    """
    least, most, trips = float("-inf"), float("inf"), []
    for answer in answers:
        moment = answer.moment_s
        if moment is None:
            continue
        least = max(least, moment[0] - answer.received_s)
        most = min(most, moment[1] - answer.sent_s)
        trips.append(answer.received_s - answer.sent_s)
    if not trips or least > most:
        return None
    return Offset(
        offset_s=round((least + most) / 2, 4),
        uncertainty_s=round((most - least) / 2, 4),
        round_trip_s=round(min(trips), 4),
    )
