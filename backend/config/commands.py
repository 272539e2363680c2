"""The commands the service is made of: scripts/start, the Dockerfile and compose use these."""

from __future__ import annotations

CELERY = ("celery", "-A", "backend.config.celery")


def web(*, bind: str) -> list[str]:
    """The web server. Threads wait for the disk and the database, processes use the cores."""
    return [
        "gunicorn",
        "backend.config.wsgi",
        f"--bind={bind}",
        "--workers=2",
        "--threads=4",
        "--timeout=120",
        "--keep-alive=15",
        "--max-requests=100000",
        "--no-control-socket",
    ]


def worker() -> list[str]:
    """The reader of uploads; nice, so that receiving goes before reading."""
    return ["nice", "-n", "10", *CELERY, "worker", "--concurrency=2", "--loglevel=INFO"]


def beat(*, schedule: str) -> list[str]:
    """The clock of the collector."""
    return [*CELERY, "beat", f"--schedule={schedule}", "--pidfile=", "--loglevel=WARNING"]
