"""Django's description of the caches."""

from typing import Any


class Bytes:
    """Keeps bytes as they are. Django's pickle fails, or runs code, where they were damaged."""

    def dumps(self, value: bytes) -> bytes:
        """As they are stored."""
        return value

    def loads(self, stored: bytes) -> bytes:
        """As they were given."""
        return stored


def caches(url: str, answers_url: str, *, timeout_s: float) -> dict[str, dict[str, Any]]:
    """The caches by name; those that all processes share are on the Redis at these addresses."""
    options: dict[str, Any] = {"socket_timeout": timeout_s, "socket_connect_timeout": timeout_s}
    return {
        # Of allauth, which knows no other: its limits, and the codes that were used.
        "default": {
            "BACKEND": "backend.config.environment.shared_cache.SharedCache",
            "KEY_PREFIX": "loadsheet-accounts",
            "LOCATION": url,
            "OPTIONS": options,
        },
        # Of comparisons, kept until what they show changes: backend/analysis/loading
        "answers": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "KEY_PREFIX": "loadsheet-answers",
            "LOCATION": answers_url,
            "OPTIONS": {**options, "serializer": Bytes},
        },
        # What is read often and may be a few minutes old.
        "process": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    }
