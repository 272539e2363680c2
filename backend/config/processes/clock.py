"""Beat: its application of Celery, and its scheduler.

Beat sends tasks by their names, so it loads neither the tasks nor the apps of Django: that takes
half of its memory.
"""

import logging.config
import os
from typing import Any

from celery import Celery
from celery.beat import Scheduler
from celery.signals import setup_logging
from django.apps import apps
from django.conf import settings

from backend.config.processes import error_reports, heartbeat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.config.settings")

app = Celery("loadsheet", fixups=(), set_as_current=False)
app.config_from_object("django.conf:settings", namespace="CELERY")


@setup_logging.connect  # type: ignore[untyped-decorator]
def log_and_report(loglevel: int = logging.WARNING, **_: Any) -> None:
    """What Django's start does elsewhere."""
    # With a registry that is ready, if empty, Django lets its connection be used.
    apps.populate([])
    logging.config.dictConfig(settings.LOGGING)
    logging.getLogger().setLevel(loglevel)
    error_reports.start()


class Clock(Scheduler):  # type: ignore[misc]
    """Runs what is due, keeps its schedule in memory, and says that it runs.

    After a restart each task waits for its whole interval.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pulse = heartbeat.Pulse(heartbeat.BEAT)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Seconds until the next task is due."""
        self._pulse.tick()
        pause_s: float = super().tick(*args, **kwargs)
        return min(pause_s, heartbeat.INTERVAL_S)
