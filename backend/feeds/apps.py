from django.apps import AppConfig


class FeedsConfig(AppConfig):
    name = "backend.feeds"
    default_auto_field = "django.db.models.BigAutoField"
