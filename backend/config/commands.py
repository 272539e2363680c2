"""The commands Loadsheet consists of, said once: scripts/start runs them, and
docker-compose.yml is held to them by a test."""

from __future__ import annotations

WEB_WORKERS = 2
WEB_THREADS = 4
READERS = 2
# Receiving goes before reading: what is not received is lost to the sender's patience.
READER_NICENESS = 5
WEB_PORT = 8000


def migrate(*, python: str = "python") -> list[str]:
    """Bring the tables up to date."""
    return [python, "manage.py", "migrate", "--noinput"]


def web(*, bind: str = f"0.0.0.0:{WEB_PORT}", python: str = "python") -> list[str]:
    """The pages and the API."""
    return [
        *(python, "-m", "gunicorn", "backend.config.wsgi:application"),
        *("--bind", bind),
        *("--workers", str(WEB_WORKERS)),
        *("--worker-class", "gthread"),
        *("--threads", str(WEB_THREADS)),
        *("--timeout", "60"),
        *("--graceful-timeout", "30"),
        *("--keep-alive", "5"),
        "--no-control-socket",
    ]


def worker(*, python: str = "python") -> list[str]:
    """Reads uploads. Prefork: a parser's limits need processes."""
    return [
        *("nice", "-n", str(READER_NICENESS)),
        *(python, "-m", "celery", "--app", "backend.config.celery", "worker"),
        *("--pool", "prefork"),
        *("--concurrency", str(READERS)),
        *("--loglevel", "INFO"),
        *("--without-gossip", "--without-mingle"),
    ]


def beat(*, python: str = "python") -> list[str]:
    """Wakes the sweeper. It keeps no schedule on disk: a sweep too many does no harm."""
    return [
        *(python, "-m", "celery", "--app", "backend.config.celery", "beat"),
        *("--scheduler", "celery.beat.Scheduler"),
        *("--loglevel", "INFO"),
        *("--pidfile", ""),
    ]
