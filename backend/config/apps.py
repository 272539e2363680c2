from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "backend.config"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Connects the signals of Celery's processes.
        from backend.config import heartbeat  # noqa: F401
