"""Beat's scheduler: it keeps its schedule in memory, and says that it runs."""

from __future__ import annotations

from typing import Any

from celery.beat import Scheduler

from backend.config import heartbeat


class Clock(Scheduler):  # type: ignore[misc]
    """Runs what is due. After a restart each task waits for its whole interval."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pulse = heartbeat.Pulse(heartbeat.BEAT)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Seconds until the next task is due."""
        self._pulse.tick()
        pause_s: float = super().tick(*args, **kwargs)
        return min(pause_s, heartbeat.INTERVAL_S)
