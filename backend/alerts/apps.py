from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "backend.alerts"

    def ready(self) -> None:
        from backend.alerts.noting import note_runs
        from backend.ingest.signals import runs_read

        runs_read.connect(note_runs, dispatch_uid="alerts")
