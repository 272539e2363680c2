"""Django's settings for a program that signs nothing and opens no database."""

import os
import secrets

import django


def set_up_offline() -> None:
    """Before the first import of a model."""
    for name in ("SECRET_KEY", "TOKEN_PEPPER"):
        os.environ.setdefault(name, secrets.token_urlsafe(48))
    os.environ.setdefault("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:1/0")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.config.settings")
    django.setup()
