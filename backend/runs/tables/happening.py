"""When a run happened: the one definition, for rows and for queries, and what may be said of it.

The newest run is the one that was measured last, whichever was uploaded or read last. A sender's
clock may be wrong, and nothing is measured after it is recorded. So a run that is dated later than
that happened when it was recorded: runs that were stored before such times were refused do not
pass for the newest ones for years.
"""

import math
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from django.db.models import Model, QuerySet
from django.db.models.functions import Coalesce, Least
from django.utils import timezone

from backend.errors import TooEarly

# A clock that nobody set apart runs this far ahead at the most.
MOST_AHEAD = timedelta(minutes=5)
Row = TypeVar("Row", bound=Model)


class Timed(Protocol):
    """A run, as a row or as loaded for a comparison."""

    @property
    def started_at(self) -> datetime | None: ...

    @property
    def recorded_at(self) -> datetime: ...


def happened_at(run: Timed) -> datetime:
    """When a run was measured; when it was recorded, where that is unknown or later."""
    return min(run.started_at or run.recorded_at, run.recorded_at)


def place_of(run: Timed) -> tuple[datetime, datetime]:
    """By what runs are sorted, the oldest first. Of one moment, the one recorded last is newer: of
    many runs, only the date is known."""
    return happened_at(run), run.recorded_at


def happened_at_of(path: str = "") -> Least:
    """The same in a query; `path` leads to the run, such as `first_run__`."""
    recorded_at = f"{path}recorded_at"
    return Least(Coalesce(f"{path}started_at", recorded_at), recorded_at)


def newest_first(runs: QuerySet[Row]) -> QuerySet[Row, Any]:
    """The runs with `happened_at`, in the order of `place_of`, backwards. Read from an index."""
    rows: QuerySet[Any, Any] = runs.annotate(happened_at=happened_at_of())
    return rows.order_by("-happened_at", "-recorded_at", "-pk")


def lies_ahead(time: datetime) -> bool:
    """Whether a time is further ahead of the service's clock than a clock may be wrong."""
    return time - timezone.now() > MOST_AHEAD


def refuse_future(where: str, time: datetime) -> None:
    """Raises TooEarly for a time that lies ahead. `where`: what it is called."""
    if not lies_ahead(time):
        return
    now = timezone.now()
    minutes = MOST_AHEAD // timedelta(minutes=1)
    raise TooEarly(
        f"{where} is {_text(time)} by the service's clock, expected a time at most {minutes} "
        f"minutes after {_text(now)}, the service's time now.",
        wait_s=max(1, math.ceil((time - MOST_AHEAD - now).total_seconds())),
    )


def _text(time: datetime) -> str:
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")
