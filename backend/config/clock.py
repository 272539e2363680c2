"""Beat's scheduler: it keeps its schedule in memory."""

from celery.beat import Scheduler


class Clock(Scheduler):  # type: ignore[misc]
    """Runs what is due."""
