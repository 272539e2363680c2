# Celery's application is made with Django, so that tasks bind to it wherever they are sent from.
from backend.config.celery import app as celery_app

__all__ = ["celery_app"]
