"""The Celery application."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.config.settings")

app = Celery("loadsheet")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["backend.ingest", "backend.sharing"])


@worker_ready.connect  # type: ignore[untyped-decorator]
def sweep_at_start(**_: Any) -> None:
    """What was left behind is looked for at once, not at the next beat."""
    app.send_task("ingest.sweep", retry=False)
