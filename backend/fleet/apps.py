from django.apps import AppConfig


class FleetConfig(AppConfig):
    name = "backend.fleet"
    default_auto_field = "django.db.models.BigAutoField"
