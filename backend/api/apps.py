from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "backend.api"
    default_auto_field = "django.db.models.BigAutoField"
