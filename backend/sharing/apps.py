from django.apps import AppConfig


class SharingConfig(AppConfig):
    name = "backend.sharing"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from backend.ingest.quota import COUNTED

        COUNTED.append(
            "SELECT workspace_id, octet_length(snapshot) FROM sharing_resultset"
            " WHERE snapshot IS NOT NULL"
        )
