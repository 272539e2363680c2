from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "backend.config"

    def ready(self) -> None:
        # Connects the signals of Celery's processes.
        from backend.config import (  # noqa: F401
            backup_bucket,
            deletions,
            error_reports,
            heartbeat,
            task_context,
            verification_task,
        )

        error_reports.start()
