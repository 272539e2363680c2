from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "backend.config"

    def ready(self) -> None:
        # Makes Celery's application, so that tasks bind to it wherever they are sent from, and
        # connects the signals of its processes.
        from backend.config import celery  # noqa: F401
        from backend.config.health import verification_task  # noqa: F401
        from backend.config.processes import celery_signals, error_reports, heartbeat  # noqa: F401
        from backend.config.recovery import (
            backup_bucket,  # noqa: F401
            deletions,  # noqa: F401
        )

        error_reports.start()
