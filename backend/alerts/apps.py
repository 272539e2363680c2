from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "backend.alerts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from backend.alerts.pending import note_run
        from backend.ingest.signals import run_read

        run_read.connect(note_run, dispatch_uid="alerts")
