from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "backend.config"

    def ready(self) -> None:
        # Makes Celery's application, so that tasks bind to it wherever they are sent from, and
        # connects the signals of its processes.
        from backend.config import (  # noqa: F401
            backup_bucket,
            celery,
            deletions,
            error_reports,
            forking,
            heartbeat,
            task_context,
            verification_task,
        )

        error_reports.start()
