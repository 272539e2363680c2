"""The Celery application."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.config.settings")

app = Celery("loadsheet")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["backend.ingest", "backend.sharing", "backend.alerts"])
