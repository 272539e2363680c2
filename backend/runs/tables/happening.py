"""When a run happened: the one definition, for rows and for queries.

A sender's clock may be wrong, and nothing is measured after it is recorded. So a run that is dated
later than that happened when it was recorded, and does not pass for the newest one.
"""

from datetime import datetime
from typing import Protocol

from django.db.models.functions import Coalesce, Least


class Timed(Protocol):
    """A run, as a row or as loaded for a comparison."""

    @property
    def started_at(self) -> datetime | None: ...

    @property
    def recorded_at(self) -> datetime: ...


def happened_at(run: Timed) -> datetime:
    """When a run was measured; when it was recorded, where that is unknown or later."""
    return min(run.started_at or run.recorded_at, run.recorded_at)


def happened_at_of(path: str = "") -> Least:
    """The same in a query; `path` leads to the run, such as `first_run__`."""
    recorded_at = f"{path}recorded_at"
    return Least(Coalesce(f"{path}started_at", recorded_at), recorded_at)
