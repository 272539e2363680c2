from django.apps import AppConfig


class SharingConfig(AppConfig):
    name = "backend.sharing"
    default_auto_field = "django.db.models.BigAutoField"
