from django.apps import AppConfig


class NoiseConfig(AppConfig):
    name = "backend.noise"
    default_auto_field = "django.db.models.BigAutoField"
