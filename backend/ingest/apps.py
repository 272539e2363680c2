from django.apps import AppConfig


class IngestConfig(AppConfig):
    name = "backend.ingest"
    default_auto_field = "django.db.models.BigAutoField"
