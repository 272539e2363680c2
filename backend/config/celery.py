"""The Celery application."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.config.settings")
# Django's checks load every page; web processes and `manage.py` run them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "yes")

app = Celery("loadsheet")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(
    [f"backend.{name}" for name in ("accounts", "alerts", "ingest", "sharing", "transfer")]
)
